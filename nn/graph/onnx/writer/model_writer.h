// Makes an ONNX model of a program. Private to nn/graph/onnx.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "nn/graph/program.h"
#include "onnx.pb.h"

namespace ambit::graph::onnx {

/// A parameter or buffer under its dotted name.
struct Initializer {
  std::string name;
  Tensor tensor;
};

struct WrittenModel {
  proto::ModelProto model;  ///< without initializers
  std::vector<Initializer> initializers;
};

/// Return the model of a program with the values of `state`. `training` replaces the modes of its
/// calls, if set. Errors: NotImplementedError naming `path` and listing all calls that have no form
/// in ONNX.
WrittenModel written_model(const Program& program, const std::vector<Tensor>& state,
                           std::optional<bool> training, const std::string& path);

}  // namespace ambit::graph::onnx
