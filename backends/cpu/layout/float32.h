// The way round by float32 of a whole operand, for kernels that take bfloat16 as it is in most
// cases and leave the rest to their float32 selves.
#pragma once

#include <ambit/autograd.h>
#include <ambit/backend/kernels.h>
#include <ambit/ops/creation.h>

namespace ambit::cpu {

/// Return t in float32; undefined as it is.
inline Tensor float32_of(const Tensor& t) { return t.defined() ? t.to(kFloat32) : t; }

/// Return new float32 memory of t's sizes, where t is.
inline Tensor make_float32(const Tensor& t) {
  return empty(t.sizes(), TensorOptions(kFloat32).device(t.device()));
}

/// Call run(wide), which fills a float32 tensor of y's sizes, and round it to y.
template <class Run>
void by_float32(Tensor& y, const Run& run) {
  const NoGradGuard no_grad;
  Tensor wide = make_float32(y);
  run(wide);
  kernels::copy(y, wide);
}

}  // namespace ambit::cpu
