// Mean, variance and normalisation of elements whose squares overflow or underflow in their own
// type. Included once per instruction set.
#if defined(AMBIT_CPU_WIDE_MOMENTS_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef AMBIT_CPU_WIDE_MOMENTS_INL_H
#undef AMBIT_CPU_WIDE_MOMENTS_INL_H
#else
#define AMBIT_CPU_WIDE_MOMENTS_INL_H
#endif

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <vector>

#include "norm_rows-inl.h"

HWY_BEFORE_NAMESPACE();
namespace ambit::cpu::HWY_NAMESPACE {

/// Return true if a sum of squares computed at least partly in T is accurate: no overflow, and no
/// underflow that matters compared with `least`, which the caller adds to it. False for NaN.
template <class T>
bool keeps_squares(double squares, double least) {
  using Limits = std::numeric_limits<T>;
  constexpr double kLeast = static_cast<double>(Limits::min() / Limits::epsilon());
  return squares <= static_cast<double>(Limits::max()) && squares + least >= kLeast;
}

/// A mean, the biased variance about it, and 1 / sqrt(variance + eps). A long double has a wider
/// range than double on x86 only.
struct WideMoments {
  double mean, variance;
  long double inverse;
};

/// Return the moments of elements that are not all finite, given their sum in any scale.
inline WideMoments infinite_moments(double sum, bool centered) {
  if (centered) return {sum, std::nan(""), std::nanl("")};
  return {0, std::fabs(sum), 1 / std::sqrt(static_cast<long double>(std::fabs(sum)))};
}

/// With this factor, a sum of up to 2^63 elements is finite if and only if all elements are.
constexpr double kFiniteSum = 0x1p-64;

/// Return the moments of finite elements x[r * run_stride + i * stride], r < runs, i < length. The
/// mean is 0 unless `centered`.
template <class X>
[[gnu::noinline]] WideMoments finite_moments(const X* x, int64_t runs, int64_t run_stride,
                                             int64_t length, int64_t stride, double eps,
                                             bool centered) {
  // The squares of floats fit in double, those of doubles in long double (x86).
  using Wide = std::conditional_t<sizeof(X) == sizeof(double), long double, double>;
  const Wide n = static_cast<Wide>(runs) * static_cast<Wide>(length);
  Wide mean = 0, variance = 0;
  for (const bool second : {false, true}) {
    Wide sum = 0;
    for (int64_t r = 0; r < runs; ++r) {
      for (int64_t i = 0; i < length; ++i) {
        const auto v = static_cast<Wide>(static_cast<double>(x[r * run_stride + i * stride]));
        sum += second ? (v - mean) * (v - mean) : v;
      }
    }
    (second ? variance : mean) = second || centered ? sum / n : 0;
  }
  const long double inverse = 1 / std::sqrt(static_cast<long double>(variance) + eps);
  return {static_cast<double>(mean), static_cast<double>(variance), inverse};
}

/// Return the sum of the elements (unless `centered`, of their magnitudes) times kFiniteSum.
template <class X>
double finite_sum(int64_t n, const X* x, bool centered) {
  const hn::ScalableTag<X> d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  const auto scale = hn::Set(d, static_cast<X>(kFiniteSum));
  // AndNot clears the sign bits, or nothing if centered.
  const auto sign = centered ? hn::Zero(d) : hn::SignBit(d);
  const auto scaled = [&](int64_t i) HWY_ATTR {
    return hn::Mul(hn::AndNot(sign, hn::LoadU(d, x + i)), scale);
  };
  auto s0 = hn::Zero(d), s1 = s0;
  int64_t i = 0;
  for (; i + 2 * lanes <= n; i += 2 * lanes) {
    s0 = hn::Add(s0, scaled(i));
    s1 = hn::Add(s1, scaled(i + lanes));
  }
  auto sum = static_cast<double>(hn::GetLane(hn::SumOfLanes(d, hn::Add(s0, s1))));
  for (; i < n; ++i) sum += static_cast<double>(centered ? x[i] : std::fabs(x[i])) * kFiniteSum;
  return sum;
}

/// Return the moments of runs of adjacent elements. A fast first pass finds NaN and infinities.
template <class X>
[[gnu::noinline]] WideMoments wide_moments(const X* x, int64_t runs, int64_t run_stride,
                                           int64_t length, double eps, bool centered = true) {
  double sum = 0;
  for (int64_t r = 0; r < runs && !std::isnan(sum); ++r) {
    sum += finite_sum(length, x + r * run_stride, centered);
  }
  if (!std::isfinite(sum)) return infinite_moments(sum, centered);
  return finite_moments(x, runs, run_stride, length, 1, eps, centered);
}

/// Return for each channel of x [R,C] a sum that is finite if and only if all its elements are.
template <class X>
[[gnu::noinline]] std::vector<double> finite_sums(const RowBlocks& blocks, int64_t C, const X* x) {
  blocks.for_blocks([&](int64_t first, int64_t rows, double* sums, double*) {
    const X* px = x + first * C;
    sum_rows<double>(rows, C, sums, [=](int64_t r, int64_t c) {
      return static_cast<double>(px[r * C + c]) * kFiniteSum;
    });
  });
  std::vector<double> total(static_cast<size_t>(C));
  blocks.merge([&](int64_t, int64_t, const double* sums, const double*) {
    for (int64_t c = 0; c < C; ++c) total[static_cast<size_t>(c)] += sums[c];
  });
  return total;
}

/// Computes (x - mean) / sqrt(variance + eps) without overflow or underflow in T of x - mean or of
/// 1 / sqrt(variance + eps).
template <class T>
class WideNormaliser {
 public:
  explicit WideNormaliser(const WideMoments& s) {
    using Limits = std::numeric_limits<T>;
    // A power of two, so that scaling x loses no significant digits.
    long double down = 1;
    if (s.inverse < 1) {
      down = std::max(s.inverse > 0 ? std::exp2(std::floor(std::log2(s.inverse))) : 0.0L,
                      static_cast<long double>(Limits::min()));
    }
    const long double mean = s.mean * down, factor = s.inverse / down;
    down_ = static_cast<T>(down);
    center_ = static_cast<T>(mean);
    first_ = factor > kHalfRange ? static_cast<T>(kHalfRange) : T(1);
    second_ = static_cast<T>(factor / static_cast<long double>(first_));
    shift_ = static_cast<T>((mean - static_cast<long double>(center_)) * factor);
  }
  T operator()(T x) const { return (x * down_ - center_) * first_ * second_ - shift_; }

 private:
  static constexpr double kHalfRange = sizeof(T) == sizeof(float) ? 0x1p64 : 0x1p512;
  T down_, center_, first_, second_, shift_;
};

}  // namespace ambit::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
