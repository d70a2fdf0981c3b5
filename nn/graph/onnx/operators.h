// The functions of ONNX's operators: each operator of a model is one call of a program, whose
// parameters are the operator's inputs and attributes by their names. Private to nn/graph/onnx.
// Source: ONNX's operator specifications, onnx.ai/onnx/operators, version 1.23.
#pragma once

#include <ambit/array_ref.h>
#include <ambit/tensor.h>

#include <cstdint>
#include <span>
#include <string_view>

#include "nn/graph/call.h"

namespace ambit::graph::onnx {

struct Operator {
  static constexpr int kList = -1;  ///< all inputs are one list, the first parameter

  Function function;  ///< under the name of the operator
  int inputs;         ///< how many of the first parameters are inputs
  uint32_t host = 0;  ///< bit i: constants of input i become numbers of the call
  int since = 1;      ///< the first opset of this row
};

// The families.
extern const std::span<const Operator> kMathOperators, kActivationOperators, kShapeOperators,
    kIndexOperators, kReduceOperators, kLayerOperators, kPoolOperators, kNormOperators,
    kRecurrentOperators, kImageOperators, kAttentionOperators, kLossOperators, kQuantizedOperators,
    kSignalOperators, kDetectionOperators, kControlOperators;

/// Return the newest row of an operator that is not newer than `opset`, or null.
const Operator* find_operator(std::string_view name, int64_t opset);

// Readers of arguments. Errors: Error, and those named.
/// Return the integers of a list or of a tensor, in order.
Dims host_integers(const Call& c, size_t i);
/// Return the only integer of such an argument.
int64_t host_integer(const Call& c, size_t i);
std::vector<double> host_reals(const Call& c, size_t i);
/// Return an axis as a number from 0 to rank - 1. Errors: IndexError.
int64_t axis(int64_t axis, int64_t rank);
Dims axes(IntArrayRef list, int64_t rank);
/// Check that both operands have one dtype. Errors: DTypeError.
void expect_same_dtype(const Tensor& a, const Tensor& b);
/// Convert indices that count from the end to positive ones.
Tensor positive_indices(const Tensor& index, int64_t size);

}  // namespace ambit::graph::onnx
