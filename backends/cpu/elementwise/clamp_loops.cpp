// Inner loops of y = min(max(x, low), high) and its gradient.
#include "backends/cpu/runtime/simd_targets.h"
#include "inner_loops.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/elementwise/clamp_loops.cpp"
#include <ambit/backend/functors.h>
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace ambit::cpu::HWY_NAMESPACE {
namespace {

template <class T>
void clamp(int64_t n, void* y, const void* x, const void* functor) {
  const auto f = *static_cast<const arithmetic::Clamp<T>*>(functor);
  T* out = static_cast<T*>(y);
  const T* in = static_cast<const T*>(x);
#pragma omp simd
  for (int64_t i = 0; i < n; ++i) out[i] = f(in[i]);
}

template <class T>
void clamp_grad(int64_t n, void* dx, const void* dy, const void* x, const void* functor, bool) {
  const auto f = *static_cast<const arithmetic::ClampGrad<T>*>(functor);
  T* out = static_cast<T*>(dx);
  const T *grad = static_cast<const T*>(dy), *in = static_cast<const T*>(x);
#pragma omp simd
  for (int64_t i = 0; i < n; ++i) out[i] = f(grad[i], in[i]);
}

TernaryLoop find_clamp_grad(DType dtype) {
  return visit<dtypes::kFloating>(dtype, []<class T>() -> TernaryLoop { return clamp_grad<T>; });
}

ClampLoop find_clamp(DType dtype) {
  return visit(dtype, []<class T>() -> ClampLoop { return clamp<T>; });
}

}  // namespace
}  // namespace ambit::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ambit::cpu {

HWY_EXPORT(find_clamp);
HWY_EXPORT(find_clamp_grad);

ClampLoop clamp_loop(DType dtype) { return HWY_DYNAMIC_DISPATCH(find_clamp)(dtype); }
TernaryLoop clamp_grad_loop(DType dtype) { return HWY_DYNAMIC_DISPATCH(find_clamp_grad)(dtype); }

}  // namespace ambit::cpu
#endif
