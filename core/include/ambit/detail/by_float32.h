// How functions that are composed of several ops take tensors of 16 bits: all of it in float32, and
// one rounding at the end, where each op would round else.
#pragma once

#include <ambit/tensor.h>

namespace ambit {

/// Return t, or float32 of what has 16 bits; differentiable.
inline Tensor widened(const Tensor& t) {
  return t.defined() && is_reduced(t.dtype()) ? t.to(kFloat32) : t;
}
template <class Parameter>
const Parameter& widened(const Parameter& p) {
  return p;
}

/// Return f(arguments...), tensors of 16 bits among them widened, as `dtype`.
template <class F, class... Arguments>
Tensor by_float32(DType dtype, const F& f, const Arguments&... arguments) {
  return f(widened(arguments)...).to(dtype);
}

}  // namespace ambit
