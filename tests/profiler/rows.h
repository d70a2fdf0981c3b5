// Looking up what a profile recorded.
#pragma once

#include <ambit/profiler.h>
#include <doctest/doctest.h>

#include <string>
#include <vector>

/// Return the one row of that name; a profile has it on one device alone here.
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
