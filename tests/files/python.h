// Finds Pythons for tests that compare with other libraries: with torch, $AMBIT_PYTHON first, which
// may have a newer PyTorch; with onnx and onnxruntime, $AMBIT_PYTHON_ONNX.
#pragma once

#include <doctest/doctest.h>

#include <cstdlib>
#include <string>

inline bool succeeds(const std::string& command) { return std::system(command.c_str()) == 0; }

/// Return its path; empty, with a message, if there is none. An interpreter named by $AMBIT_PYTHON
/// must work.
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

/// Return a Python with onnx and onnxruntime; empty, with a message, if there is none.
inline std::string python_with_onnx() {
  const char* asked = std::getenv("AMBIT_PYTHON_ONNX");
  const std::string python = asked ? asked : "python3";
  const bool works = succeeds("'" + python + "' -c 'import onnx, onnxruntime' 2>/dev/null");
  if (asked) CHECK_MESSAGE(works, "AMBIT_PYTHON_ONNX has no onnx and onnxruntime: ", asked);
  if (works) return python;
  MESSAGE("skipped: no onnxruntime (AMBIT_PYTHON_ONNX names a Python that has it and onnx)");
  return "";
}
