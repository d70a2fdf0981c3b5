// Looks up records of a profile.
#pragma once

#include <ambit/profiler.h>
#include <doctest/doctest.h>

#include <string>
#include <vector>

/// Return the only row of that name; here a profile has each name on a single device.
inline ambit::profiler::FunctionEventAvg row(const ambit::profiler::EventAverages& rows,
                                             const std::string& name) {
  ambit::profiler::FunctionEventAvg found;
  for (const ambit::profiler::FunctionEventAvg& r : rows) {
    if (r.key != name) continue;
    REQUIRE_MESSAGE(found.count == 0, name << " has two rows");
    found = r;
  }
  return found;
}

/// Return the calls of that name, in order.
inline std::vector<ambit::profiler::FunctionEvent> named(const ambit::profiler::Profile& profile,
                                                         const std::string& name) {
  std::vector<ambit::profiler::FunctionEvent> found;
  for (const ambit::profiler::FunctionEvent& e : profile.events()) {
    if (e.name == name) found.push_back(e);
  }
  return found;
}
