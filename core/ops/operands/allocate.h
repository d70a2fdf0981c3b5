// Allocation of ops' outputs.
#pragma once

#include <ambit/tensor.h>

namespace ambit {

/// Allocate the output of `op`: like empty(), but errors name `op`.
Tensor allocate(const char* op, IntArrayRef sizes, DType dtype, Device device);
/// Allocate a tensor of t's sizes on its device.
Tensor blank_like(const Tensor& t, DType dtype);
/// Return `options` with self's dtype and device as defaults.
TensorOptions options_like(const Tensor& self, const TensorOptions& options);
/// Apply the other options to the new tensor `t`, which already has their dtype and device.
Tensor finish(Tensor t, const TensorOptions& options);

}  // namespace ambit
