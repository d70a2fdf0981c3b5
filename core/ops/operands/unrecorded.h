// Tensors outside the graph, for the step from an op to its kernel: what is done here to shapes and
// memory has no gradient, because the op that does it records its own.
#pragma once

#include <ambit/autograd.h>
#include <ambit/backend/alias.h>
#include <ambit/tensor.h>

namespace ambit {

/// Return t if it is contiguous or undefined, else a contiguous copy: for kernels without strides.
inline Tensor dense(const Tensor& t) {
  if (!t.defined() || t.is_contiguous()) return t;
  const NoGradGuard no_grad;
  return t.contiguous();
}

/// Return t, or where it has no dim its alias of size [1]: kernels that take a dim have one then.
inline Tensor at_least_1d(const Tensor& t) { return t.dim() == 0 ? alias(t, {1}) : t; }

/// Change the sizes of a contiguous tensor that the op has just made, without another alias.
inline void set_sizes(const Tensor& fresh, IntArrayRef sizes) {
  TensorImpl& impl = *fresh.impl();
  impl.strides = contiguous_strides(sizes);
  impl.sizes = sizes;
}

}  // namespace ambit
