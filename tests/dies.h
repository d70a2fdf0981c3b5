// Checks hidden test cases that end their process on purpose with an error message.
#pragma once

#include <doctest/doctest.h>

#include <csignal>
#include <string>
#include <vector>

#include "tests/child_process.h"

/// Check that a test case, run by run_child, dies by a signal and prints all of these texts.
inline void check_dies(const std::string& test_case, const std::vector<std::string>& texts,
                       const std::string& environment = "", int signal = SIGABRT) {
  const ChildResult child = run_child(test_case, environment);
  INFO(child.output);
  CHECK(child.signal == signal);
  for (const std::string& text : texts) {
    CAPTURE(text);
    CHECK(child.output.find(text) != std::string::npos);
  }
}
