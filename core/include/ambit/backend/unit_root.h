// Roots of unity, the factors of discrete Fourier transforms.
#pragma once

#include <cmath>
#include <complex>
#include <cstdint>
#include <numbers>
#include <utility>

namespace ambit {

/// Return exp(2 pi i m / n) for 0 <= m < n < 2^60, with errors of about one rounding: the angle is
/// reduced to an eighth of a turn by integers, exactly.
inline std::complex<double> unit_root(int64_t m, int64_t n) {
  const bool is_lower = m > n / 2;
  int64_t eighths = 8 * (is_lower ? n - m : m);  // in units of 1 / n eighths of a turn, up to 4 n
  const bool is_left = eighths > 2 * n;
  if (is_left) eighths = 4 * n - eighths;
  const bool is_steep = eighths > n;
  if (is_steep) eighths = 2 * n - eighths;
  const double angle =
      std::numbers::pi / 4 * (static_cast<double>(eighths) / static_cast<double>(n));
  double re = std::cos(angle), im = std::sin(angle);
  if (is_steep) std::swap(re, im);
  return {is_left ? -re : re, is_lower ? -im : im};
}

}  // namespace ambit
