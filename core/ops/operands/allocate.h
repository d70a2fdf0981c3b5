// The outputs that ops give to kernels to fill.
#pragma once

#include <ambit/tensor.h>

namespace ambit {

/// Allocate the output of `op`: as empty(), but errors bear the op's name.
Tensor allocate(const char* op, IntArrayRef sizes, DType dtype, Device device);
/// Return options that take from `self` the dtype and device they do not say.
TensorOptions options_like(const Tensor& self, const TensorOptions& options);
/// Return the new tensor `t`, of the dtype and device asked for, with what else options ask.
Tensor finish(Tensor t, const TensorOptions& options);

}  // namespace ambit
