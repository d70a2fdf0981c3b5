// Makes a program of a model. Private to nn/graph/onnx.
#pragma once

#include <string>

#include "nn/graph/lacking.h"
#include "nn/graph/program.h"
#include "onnx.pb.h"

namespace ambit::graph::onnx {

/// Return the program of a model from the file `path`, whose tensors are moved out of it; what
/// ambit lacks is added to `lacking`. Errors: SerializationError; the caller adds the path.
LoadedProgram read_model(const std::string& path, proto::ModelProto& model, Lacking& lacking);

}  // namespace ambit::graph::onnx
