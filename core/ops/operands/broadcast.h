// Operands as kernels take them: of one shape, dtype and device, seen by no graph.
#pragma once

#include <ambit/tensor.h>

namespace ambit {

/// Return an alias of `t` with strides of 0 where it broadcasts to `sizes`; `t` itself where it has
/// them already. No graph sees it. Requires that it broadcasts.
Tensor expanded(const Tensor& t, IntArrayRef sizes);
/// Return the same with another dtype, on another device: a copy if one of these differs.
Tensor operand(const Tensor& t, IntArrayRef sizes, DType dtype, Device device);
/// Return whether `from` broadcasts to exactly `to`.
bool broadcasts_to(IntArrayRef from, IntArrayRef to);
/// Check it. Errors: ShapeError.
void check_broadcasts_to(const char* op, IntArrayRef from, IntArrayRef to);

}  // namespace ambit
