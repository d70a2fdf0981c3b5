// Writes a model that was loaded. Private to nn/graph/onnx.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "model_writer.h"

namespace ambit::graph::onnx {

/// Return the model of a program that was read from one: its nodes and names, with the values of
/// `state`. `training` replaces the modes of its calls, if set. Errors: NotImplementedError naming
/// `path` and listing all calls whose mode cannot be stored in a model for inference.
WrittenModel copied_model(const Program& program, const std::vector<Tensor>& state,
                          std::optional<bool> training, const std::string& path);

}  // namespace ambit::graph::onnx
