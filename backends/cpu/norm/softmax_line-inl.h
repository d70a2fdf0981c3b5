// What softmax and cross-entropy do along one contiguous line. Included once per instruction set.
// NaN anywhere, or an infinity at the top, makes the sum NaN, and with it all that is made from it.
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

inline constexpr int64_t kBlock = 512;  // elements summed in T before they meet a double

/// exp(x) where x <= 0 or NaN; others give anything.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V exp_nonpositive(D d, V x) requires(sizeof(hn::TFromD<D>) == 8) {
  return Exp()(d, x);
}
/// To 1.2 ulp, in half of Exp's time.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V exp_nonpositive(D d, V x) requires(sizeof(hn::TFromD<D>) == 4) {
  // x = q ln 2 + r. In floats as large as this one, whose last digit is 1, the low bits hold q +
  // 191: shifted, they are the exponent of 2^(q + 64), which is normal also where 2^q is not.
  const V rounds = constant(d, 0x1.8p23 + 127 + 64);
  const V t = hn::MulAdd(x, constant(d, 1.442695040888963), rounds);
  const V scale = hn::BitCast(d, hn::ShiftLeft<23>(hn::BitCast(hn::RebindToUnsigned<D>(), t)));
  const V q = hn::Sub(t, rounds);
  // ln 2 in two parts, of which the first times q is exact.
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
  return hn::IfThenZeroElse(hn::Lt(x, constant(d, -104)), y);  // where t may be beyond its range
}

/// The largest of n > 0 elements.
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
      // Past the end: exp(-inf) = 0.
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
