// Unrecorded functions for the step from an op to its kernel: changes of shapes and memory here
// have no gradient, because the op records its own.
#pragma once

#include <ambit/autograd.h>
#include <ambit/backend/alias.h>
#include <ambit/tensor.h>

namespace ambit {

/// Return t if it is contiguous or undefined, else a contiguous copy, for kernels without strides.
inline Tensor dense(const Tensor& t) {
  if (!t.defined() || t.is_contiguous()) return t;
  const NoGradGuard no_grad;
  return t.contiguous();
}

/// Return t, or an alias of size [1] if it is 0-dim, for kernels with a dim parameter.
inline Tensor at_least_1d(const Tensor& t) { return t.dim() == 0 ? alias(t, {1}) : t; }

/// Change the sizes of a contiguous tensor that the op has just created, without another alias.
inline void set_sizes(const Tensor& fresh, IntArrayRef sizes) {
  TensorImpl& impl = *fresh.impl();
  impl.strides = contiguous_strides(sizes);
  impl.sizes = sizes;
}

}  // namespace ambit
