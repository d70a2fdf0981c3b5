// The inner loops of functors that hold numbers.
#include "backends/cpu/runtime/simd_targets.h"
#include "inner_loops.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/elementwise/functor_loops.cpp"
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
void add_scaled(int64_t n, void* y, const void* a, const void* b, const void* functor) {
  const auto f = *static_cast<const arithmetic::AddScaled<T>*>(functor);
  T* out = static_cast<T*>(y);
  const T *left = static_cast<const T*>(a), *right = static_cast<const T*>(b);
#pragma omp simd
  for (int64_t i = 0; i < n; ++i) out[i] = f(left[i], right[i]);
}

ClampLoop find_clamp(DType dtype) {
  return visit(dtype, []<class T>() -> ClampLoop { return clamp<T>; });
}
AddScaledLoop find_add_scaled(DType dtype) {
  return visit(dtype, []<class T>() -> AddScaledLoop { return add_scaled<T>; });
}

}  // namespace
}  // namespace ambit::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ambit::cpu {

HWY_EXPORT(find_clamp);
HWY_EXPORT(find_add_scaled);

ClampLoop clamp_loop(DType dtype) { return HWY_DYNAMIC_DISPATCH(find_clamp)(dtype); }
AddScaledLoop add_scaled_loop(DType dtype) { return HWY_DYNAMIC_DISPATCH(find_add_scaled)(dtype); }

}  // namespace ambit::cpu
#endif
