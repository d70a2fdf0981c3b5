// Inner loops over a functor, for one instruction set. Element loops are vectorised by the
// compiler; loops over Highway vectors are for functions that it cannot vectorise.
#if defined(AMBIT_CPU_INNER_LOOPS_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef AMBIT_CPU_INNER_LOOPS_INL_H
#undef AMBIT_CPU_INNER_LOOPS_INL_H
#else
#define AMBIT_CPU_INNER_LOOPS_INL_H
#endif

#include <hwy/highway.h>

#include <cstdint>
#include <cstring>

HWY_BEFORE_NAMESPACE();
namespace ambit::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// y[i] = F()(x[i]). The pragma asserts that iterations are independent, also if y is x. It does
/// not force vectorisation: loops of calls or integer divisions remain scalar.
template <class Out, class In, class F>
void element_unary(int64_t n, void* y, const void* x) {
  Out* out = static_cast<Out*>(y);
  const In* in = static_cast<const In*>(x);
#pragma omp simd
  for (int64_t i = 0; i < n; ++i) out[i] = static_cast<Out>(F()(in[i]));
}

template <class Out, class In, class F>
void element_binary(int64_t n, void* y, const void* a, const void* b) {
  Out* out = static_cast<Out*>(y);
  const In *left = static_cast<const In*>(a), *right = static_cast<const In*>(b);
#pragma omp simd
  for (int64_t i = 0; i < n; ++i) out[i] = static_cast<Out>(F()(left[i], right[i]));
}

template <class T, class F>
void element_ternary(int64_t n, void* y, const void* a, const void* b, const void* c,
                     bool one_for_all) {
  T* out = static_cast<T*>(y);
  const T *left = static_cast<const T*>(a), *right = static_cast<const T*>(b);
  const T* third = static_cast<const T*>(c);
  if (one_for_all) {
    const T number = *third;
#pragma omp simd
    for (int64_t i = 0; i < n; ++i) out[i] = static_cast<T>(F()(left[i], right[i], number));
    return;
  }
#pragma omp simd
  for (int64_t i = 0; i < n; ++i) out[i] = static_cast<T>(F()(left[i], right[i], third[i]));
}

/// Load a vector from p, of which only n elements need exist; the others are set to `missing`.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V load(D d, const hn::TFromD<D>* p, int64_t n, V missing) {
  if (n >= static_cast<int64_t>(hn::Lanes(d))) return hn::LoadU(d, p);
#if HWY_MEM_OPS_MIGHT_FAULT
  HWY_ALIGN hn::TFromD<D> part[hn::MaxLanes(D())];
  hn::Store(missing, d, part);
  std::memcpy(part, p, static_cast<size_t>(n) * sizeof(*p));
  return hn::Load(d, part);
#else
  const auto there = hn::FirstN(d, static_cast<size_t>(n));
  return hn::IfThenElse(there, hn::MaskedLoad(there, d, p), missing);
#endif
}
template <class D>
HWY_INLINE hn::Vec<D> load(D d, const hn::TFromD<D>* p, int64_t n) {
  return load(d, p, n, hn::Zero(d));
}
/// Store a vector to p, which has space for n elements.
template <class D>
HWY_INLINE void store(hn::Vec<D> v, D d, hn::TFromD<D>* p, int64_t n) {
  if (n >= static_cast<int64_t>(hn::Lanes(d))) return hn::StoreU(v, d, p);
#if HWY_MEM_OPS_MIGHT_FAULT
  HWY_ALIGN hn::TFromD<D> part[hn::MaxLanes(D())];
  hn::Store(v, d, part);
  std::memcpy(p, part, static_cast<size_t>(n) * sizeof(*p));
#else
  hn::BlendedStore(v, hn::FirstN(d, static_cast<size_t>(n)), d, p);
#endif
}

/// As element_unary, for a functor F of vectors.
template <class T, class F, class D = hn::ScalableTag<T>>
void vector_unary(int64_t n, void* y, const void* x) {
  const D d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  T* out = static_cast<T*>(y);
  const T* in = static_cast<const T*>(x);
  for (int64_t i = 0; i < n; i += lanes) {
    store(F()(d, load(d, in + i, n - i)), d, out + i, n - i);
  }
}

template <class T, class F>
void vector_binary(int64_t n, void* y, const void* a, const void* b) {
  const hn::ScalableTag<T> d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  T* out = static_cast<T*>(y);
  const T *left = static_cast<const T*>(a), *right = static_cast<const T*>(b);
  for (int64_t i = 0; i < n; i += lanes) {
    store(F()(d, load(d, left + i, n - i), load(d, right + i, n - i)), d, out + i, n - i);
  }
}

template <class T, class F>
void vector_ternary(int64_t n, void* y, const void* a, const void* b, const void* c,
                    bool one_for_all) {
  const hn::ScalableTag<T> d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  T* out = static_cast<T*>(y);
  const T *left = static_cast<const T*>(a), *right = static_cast<const T*>(b);
  const T* third = static_cast<const T*>(c);
  const auto number = hn::Set(d, n > 0 ? *third : T{});
  for (int64_t i = 0; i < n; i += lanes) {
    const auto v = one_for_all ? number : load(d, third + i, n - i);
    store(F()(d, load(d, left + i, n - i), load(d, right + i, n - i), v), d, out + i, n - i);
  }
}

}  // namespace ambit::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
