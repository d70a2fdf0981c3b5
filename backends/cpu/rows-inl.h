// Loops of the row functions, for one instruction set. Plain ones are left to the compiler's
// vectoriser; those over Highway vectors are for maths that it knows nothing of.
#if defined(AMBIT_CPU_ROWS_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef AMBIT_CPU_ROWS_INL_H
#undef AMBIT_CPU_ROWS_INL_H
#else
#define AMBIT_CPU_ROWS_INL_H
#endif

#include <hwy/highway.h>

#include <cstdint>
#include <cstring>

HWY_BEFORE_NAMESPACE();
namespace ambit::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// y[i] = F()(x[i]); the pragma says that iterations are independent, also where y is x.
template <class Out, class In, class F>
void plain_unary(int64_t n, void* y, const void* x) {
  Out* out = static_cast<Out*>(y);
  const In* in = static_cast<const In*>(x);
#pragma omp simd
  for (int64_t i = 0; i < n; ++i) out[i] = static_cast<Out>(F()(in[i]));
}

template <class Out, class In, class F>
void plain_binary(int64_t n, void* y, const void* a, const void* b) {
  Out* out = static_cast<Out*>(y);
  const In *left = static_cast<const In*>(a), *right = static_cast<const In*>(b);
#pragma omp simd
  for (int64_t i = 0; i < n; ++i) out[i] = static_cast<Out>(F()(left[i], right[i]));
}

/// The same where F is a call that is not inlined, or a division of integers: nothing to vectorise.
template <class T, class F>
void scalar_unary(int64_t n, void* y, const void* x) {
  T* out = static_cast<T*>(y);
  const T* in = static_cast<const T*>(x);
  for (int64_t i = 0; i < n; ++i) out[i] = F()(in[i]);
}

template <class T, class F>
void scalar_binary(int64_t n, void* y, const void* a, const void* b) {
  T* out = static_cast<T*>(y);
  const T *left = static_cast<const T*>(a), *right = static_cast<const T*>(b);
  for (int64_t i = 0; i < n; ++i) out[i] = F()(left[i], right[i]);
}

/// The same where F works on vectors. The rest of a row goes through a padded copy.
template <class T, class F>
void vector_unary(int64_t n, void* y, const void* x) {
  const hn::ScalableTag<T> d;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  T* out = static_cast<T*>(y);
  const T* in = static_cast<const T*>(x);
  int64_t i = 0;
  for (; i + lanes <= n; i += lanes) hn::StoreU(F()(d, hn::LoadU(d, in + i)), d, out + i);
  if (i == n) return;
  HWY_ALIGN T rest[hn::MaxLanes(d)] = {};
  const size_t bytes = static_cast<size_t>(n - i) * sizeof(T);
  std::memcpy(rest, in + i, bytes);
  hn::Store(F()(d, hn::Load(d, rest)), d, rest);
  std::memcpy(out + i, rest, bytes);
}

template <class T, class F>
void vector_binary(int64_t n, void* y, const void* a, const void* b) {
  const hn::ScalableTag<T> d;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  T* out = static_cast<T*>(y);
  const T *left = static_cast<const T*>(a), *right = static_cast<const T*>(b);
  int64_t i = 0;
  for (; i + lanes <= n; i += lanes) {
    hn::StoreU(F()(d, hn::LoadU(d, left + i), hn::LoadU(d, right + i)), d, out + i);
  }
  if (i == n) return;
  HWY_ALIGN T rest_a[hn::MaxLanes(d)] = {};
  HWY_ALIGN T rest_b[hn::MaxLanes(d)] = {};
  const size_t bytes = static_cast<size_t>(n - i) * sizeof(T);
  std::memcpy(rest_a, left + i, bytes);
  std::memcpy(rest_b, right + i, bytes);
  hn::Store(F()(d, hn::Load(d, rest_a), hn::Load(d, rest_b)), d, rest_a);
  std::memcpy(out + i, rest_a, bytes);
}

}  // namespace ambit::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
