// Mean and variance of elements whose squares overflow or underflow in their own type, in long
// double, which on x86 can hold the square of every double.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>

namespace ambit::cpu {

/// Return true if a sum of squares computed at least partly in T is accurate: no overflow, and no
/// underflow that matters compared with `least`, which the caller adds to it. False for NaN.
template <class T>
bool keeps_squares(double squares, double least) {
  using Limits = std::numeric_limits<T>;
  constexpr double kLeast = static_cast<double>(Limits::min() / Limits::epsilon());
  return squares <= static_cast<double>(Limits::max()) && squares + least >= kLeast;
}

/// A mean, the biased variance about it, and 1 / sqrt(variance + eps).
struct WideMoments {
  double mean, variance, inverse;
};

/// Return the moments of the elements x[r * run_stride + i * stride], r < runs, i < length. The
/// mean is 0 unless `centered`.
template <class X>
[[gnu::noinline, gnu::cold]] WideMoments wide_moments(const X* x, int64_t runs, int64_t run_stride,
                                                      int64_t length, int64_t stride, double eps,
                                                      bool centered = true) {
  const auto n = static_cast<long double>(runs) * static_cast<long double>(length);
  long double mean = 0, variance = 0;
  for (const bool second : {false, true}) {
    long double sum = 0;
    for (int64_t r = 0; r < runs; ++r) {
      for (int64_t i = 0; i < length; ++i) {
        const auto v =
            static_cast<long double>(static_cast<double>(x[r * run_stride + i * stride]));
        sum += second ? (v - mean) * (v - mean) : v;
      }
    }
    (second ? variance : mean) = second || centered ? sum / n : 0;
  }
  return {static_cast<double>(mean), static_cast<double>(variance),
          static_cast<double>(1 / std::sqrt(variance + eps))};
}

}  // namespace ambit::cpu
