// Writes a model to files. Private to nn/graph/onnx.
#pragma once

#include <string>

#include "model_writer.h"

namespace ambit::graph::onnx {

/// Write a model, with its initializers from their own memory. A model of more than 2 GiB, the
/// limit of protobuf, has those of 1 KiB and more in "<path>.data". Errors: SerializationError
/// naming the path and the cause. Then an existing model is unchanged.
void write_files(const WrittenModel& model, const std::string& path);

}  // namespace ambit::graph::onnx
