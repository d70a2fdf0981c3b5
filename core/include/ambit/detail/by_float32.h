// For functions composed of several ops: compute with reduced floating-point operands in float32,
// with one rounding at the end instead of one in each op.
#pragma once

#include <ambit/tensor.h>

namespace ambit {

/// Return t, upcast to float32 if it is a reduced floating-point type; differentiable.
inline Tensor upcast(const Tensor& t) {
  return t.defined() && is_reduced_floating(t.dtype()) ? t.to(kFloat32) : t;
}
template <class Parameter>
const Parameter& upcast(const Parameter& p) {
  return p;
}

/// Return f(arguments...) with tensors upcast as above, converted to `dtype`.
template <class F, class... Arguments>
Tensor by_float32(DType dtype, const F& f, const Arguments&... arguments) {
  return f(upcast(arguments)...).to(dtype);
}

}  // namespace ambit
