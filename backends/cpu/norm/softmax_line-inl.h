// Functions of softmax and cross-entropy on one contiguous line. Included once per instruction set.
// A NaN, or an infinite maximum, makes the sum of exponentials NaN, and so all results.
#if defined(AMBIT_CPU_SOFTMAX_LINE_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef AMBIT_CPU_SOFTMAX_LINE_INL_H
#undef AMBIT_CPU_SOFTMAX_LINE_INL_H
#else
#define AMBIT_CPU_SOFTMAX_LINE_INL_H
#endif

#include <hwy/highway.h>

#include <algorithm>
#include <limits>

#include "backends/cpu/elementwise/inner_loops-inl.h"
#include "backends/cpu/elementwise/math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace ambit::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

inline constexpr int64_t kBlock = 512;  // elements summed in T before adding to a double

/// Return exp(x) for x <= 0 or NaN; for other x the result is unspecified.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V exp_nonpositive(D d, V x) requires(sizeof(hn::TFromD<D>) == 8) {
  return Exp()(d, x);
}
/// Accurate to 1.2 ulp, in half of Exp's time.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V exp_nonpositive(D d, V x) requires(sizeof(hn::TFromD<D>) == 4) {
  // x = q ln 2 + r. Floats near `rounds` are spaced by 1, so the low bits of t hold q + 191.
  // Shifted, these bits are the exponent of 2^(q + 64), which is normal even if 2^q is subnormal.
  const V rounds = constant(d, 0x1.8p23 + 127 + 64);
  const V t = hn::MulAdd(x, constant(d, 1.442695040888963), rounds);
  const V scale = hn::BitCast(d, hn::ShiftLeft<23>(hn::BitCast(hn::RebindToUnsigned<D>(), t)));
  const V q = hn::Sub(t, rounds);
  // ln 2 in two parts (Cody-Waite); the first times q is exact.
  V r = hn::MulAdd(q, constant(d, -0.693145751953125), x);
  r = hn::MulAdd(q, constant(d, -1.428606765330187e-6), r);
  V y = constant(d, 1.98527617612853646e-4);  // the polynomial of Highway's Exp
  y = hn::MulAdd(y, r, constant(d, 1.39304355252534151e-3));
  y = hn::MulAdd(y, r, constant(d, 8.33336077630519867e-3));
  y = hn::MulAdd(y, r, constant(d, 4.16664853692054749e-2));
  y = hn::MulAdd(y, r, constant(d, 1.66666671633720398e-1));
  y = hn::MulAdd(y, r, constant(d, 0.5));
  y = hn::MulAdd(y, r, constant(d, 1));
  y = hn::MulAdd(y, r, constant(d, 1));
  y = hn::Mul(hn::Mul(y, scale), constant(d, 0x1p-64));
  return hn::IfThenZeroElse(hn::Lt(x, constant(d, -104)), y);  // t may be out of range
}

/// Return the largest of n > 0 elements.
template <class T>
T largest(int64_t n, const T* x) {
  const hn::ScalableTag<T> d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  const auto least = hn::Neg(infinity(d));
  auto most = least;
  for (int64_t i = 0; i < n; i += lanes) most = hn::Max(most, load(d, x + i, n - i, least));
  return hn::GetLane(hn::MaxOfLanes(d, most));
}

/// Return the sum of exp(x[i] - shift), and write the terms to y unless that is null.
template <class T>
double sum_exponentials(int64_t n, T* y, const T* x, T shift) {
  const hn::ScalableTag<T> d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  const auto least = hn::Neg(infinity(d)), subtrahend = hn::Set(d, shift);
  double sum = 0;
  for (int64_t begin = 0; begin < n; begin += kBlock) {
    const int64_t end = std::min(n, begin + kBlock);
    auto part = hn::Zero(d);
    for (int64_t i = begin; i < end; i += lanes) {
      // Lanes past the end load -inf, whose exp is 0.
      const auto e = exp_nonpositive(d, hn::Sub(load(d, x + i, end - i, least), subtrahend));
      if (y) store(e, d, y + i, end - i);
      part = hn::Add(part, e);
    }
    sum += static_cast<double>(hn::GetLane(hn::SumOfLanes(d, part)));
  }
  return sum;
}

/// y = y * factor.
template <class T>
void scale(int64_t n, T* y, T factor) {
#pragma omp simd
  for (int64_t i = 0; i < n; ++i) y[i] *= factor;
}

}  // namespace ambit::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
