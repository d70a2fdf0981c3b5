// What softmax and cross-entropy do along one contiguous row. Included once per instruction set.
// NaN anywhere, or an infinity at the top, makes the sum NaN, and with it all that is made from it.
#if defined(AMBIT_CPU_SOFTMAX_ROW_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef AMBIT_CPU_SOFTMAX_ROW_INL_H
#undef AMBIT_CPU_SOFTMAX_ROW_INL_H
#else
#define AMBIT_CPU_SOFTMAX_ROW_INL_H
#endif

#include <hwy/highway.h>

#include <algorithm>
#include <limits>

#include "math-inl.h"
#include "rows-inl.h"

HWY_BEFORE_NAMESPACE();
namespace ambit::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

inline constexpr int64_t kBlock = 512;  // elements summed in T before they meet a double

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
      const auto e = Exp()(d, hn::Sub(load(d, x + i, end - i, least), subtrahend));
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
