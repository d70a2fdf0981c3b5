// Runs a test case in a separate process, for effects on the whole process: loaded plugins,
// counters, and output at exit. These cases are marked skip(), so they run only on request.
#pragma once

#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <sstream>
#include <string>

#include "tests/child_process.h"

/// Run the test case `name` with these environment variables, and fail unless it passes. Return its
/// output without doctest's lines.
inline std::string check_child(const std::string& name,
                               const std::map<std::string, std::string>& variables = {}) {
  // Do not inherit the parent's settings.
  std::string environment = "-u AMBIT_BACKEND_PATH -u AMBIT_FALLBACK";
  for (const auto& [variable, value] : variables)
    environment += " " + variable + "='" + value + "'";
  const ChildResult child = run_child(name, environment);
  INFO(name);
  INFO(child.output);
  CHECK(child.signal == 0);
  CHECK(child.exit_code == 0);
  // doctest also succeeds for a name without a test case, so check the number of cases.
  std::string packed = child.output;
  packed.erase(std::remove(packed.begin(), packed.end(), ' '), packed.end());
  CHECK(packed.find("testcases:1|1passed") != std::string::npos);

  std::istringstream lines(child.output);
  std::string said;
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with("[doctest]") && !line.starts_with("==")) said += line + "\n";
  }
  return said;
}
