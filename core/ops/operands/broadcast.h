// Conversion of operands for kernels: one shape, dtype and device, unrecorded.
#pragma once

#include <ambit/tensor.h>

namespace ambit {

/// Return an unrecorded alias of `t`, broadcast to `sizes` with strides of 0; `t` itself if it has
/// these sizes. Requires that it broadcasts.
Tensor expanded(const Tensor& t, IntArrayRef sizes);
/// As above, converted to another dtype and device; a copy if one of these differs.
Tensor operand(const Tensor& t, IntArrayRef sizes, DType dtype, Device device);
/// Return true if `from` broadcasts to exactly `to`.
bool broadcasts_to(IntArrayRef from, IntArrayRef to);
/// Check that `from` broadcasts to `to`. Errors: ShapeError.
void check_broadcasts_to(const char* op, IntArrayRef from, IntArrayRef to);

}  // namespace ambit
