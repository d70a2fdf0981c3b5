// libambit_onnx.so, which reads and writes ONNX models and has the functions of their operators. It
// needs protobuf, so it is opened when the first model is loaded or saved.
#pragma once

#include <ambit/detail/late_library.h>

#include <optional>
#include <string>
#include <vector>

#include "nn/graph/program.h"

namespace ambit::graph::onnx {

struct Library {
  /// Errors: those of graph::load().
  LoadedProgram (*read)(const std::string& path);
  /// Write a program with the values of `state`. If set, `training` replaces the modes of its
  /// calls. Errors: those of graph::save().
  void (*write)(const Program& program, const std::vector<Tensor>& state,
                std::optional<bool> training, const std::string& path);
};

inline const Library& library() { return *static_cast<const Library*>(late_library("onnx")); }

}  // namespace ambit::graph::onnx
