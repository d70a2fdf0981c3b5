// Makes a program of a model. Private to nn/graph/onnx.
#pragma once

#include <string>

#include "nn/graph/lacking.h"
#include "nn/graph/program.h"
#include "onnx.pb.h"

namespace ambit::graph::onnx {

/// Return the program of `model`, which was read from the file `path`. Tensors are moved out of
/// `model`; functions and dtypes that ambit lacks are added to `lacking`. Errors:
/// SerializationError; the caller adds the path.
LoadedProgram read_model(const std::string& path, proto::ModelProto& model, Lacking& lacking);

}  // namespace ambit::graph::onnx
