// libambit_onnx.so, which reads ONNX models and has the functions of their operators. It needs
// protobuf, so it is opened when the first model is loaded.
#pragma once

#include <ambit/detail/late_library.h>

#include <string>

#include "nn/graph/program.h"

namespace ambit::graph::onnx {

struct Library {
  /// Errors: those of graph::load().
  LoadedProgram (*read)(const std::string& path);
};

inline const Library& library() { return *static_cast<const Library*>(late_library("onnx")); }

}  // namespace ambit::graph::onnx
