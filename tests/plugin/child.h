// Runs a test case in a process of its own: what a process loads, counts and says at exit is then
// its alone. Such cases are marked skip(), so that they run only when asked for.
#pragma once

#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <sstream>
#include <string>

#include "tests/child_process.h"

/// Run the test case `name` with these variables in its environment, and fail unless it passes.
/// Return what it printed beside doctest's own lines.
inline std::string check_child(const std::string& name,
                               const std::map<std::string, std::string>& variables = {}) {
  // The parent's own setting must not reach it.
  std::string environment = "-u AMBIT_BACKEND_PATH -u AMBIT_FALLBACK";
  for (const auto& [variable, value] : variables)
    environment += " " + variable + "='" + value + "'";
  const ChildResult child = run_child(name, environment);
  INFO(name);
  INFO(child.output);
  CHECK(child.signal == 0);
  CHECK(child.exit_code == 0);
  // A name that no test case bears would end well too, were it not for the count.
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
