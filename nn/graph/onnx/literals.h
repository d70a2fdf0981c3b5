// Arguments that are constants of a model. Private to nn/graph/onnx.
#pragma once

#include <ambit/tensor.h>

#include <string>
#include <string_view>

#include "nn/graph/program.h"
#include "onnx.pb.h"

namespace ambit::graph::onnx {

/// True for the names of attributes that are dtypes.
bool is_dtype(std::string_view name);
/// Return the name of a call for errors: its own, or that of its first output.
std::string place_of(const proto::NodeProto& node);
Argument real(double value);
Argument text(const std::string& value);
/// Return the elements of a constant as numbers: a list, or one number if it has no dims.
Argument literal(const Tensor& t);

}  // namespace ambit::graph::onnx
