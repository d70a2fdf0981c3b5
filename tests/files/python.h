// A Python that has torch, for tests that compare with it: $AMBIT_PYTHON first, which may be one
// with a newer PyTorch.
#pragma once

#include <doctest/doctest.h>

#include <cstdlib>
#include <string>

inline bool succeeds(const std::string& command) { return std::system(command.c_str()) == 0; }

/// Return its path; empty, with a message, where there is none. One that is asked for must work.
inline const std::string& python_with_torch() {
  static const std::string found = [] {
    const auto has_torch = [](const std::string& python) {
      return succeeds("OMP_NUM_THREADS=1 '" + python +
                      "' -c 'from torch import Tensor' 2>/dev/null");
    };
    if (const char* asked = std::getenv("AMBIT_PYTHON")) {
      CHECK_MESSAGE(has_torch(asked), "AMBIT_PYTHON has no torch: ", asked);
      return std::string(asked);
    }
    for (const char* python : {"python3", "/usr/bin/python3"}) {
      if (has_torch(python)) return std::string(python);
    }
    return std::string();
  }();
  if (found.empty()) MESSAGE("skipped: no PyTorch (AMBIT_PYTHON names a Python that has it)");
  return found;
}
