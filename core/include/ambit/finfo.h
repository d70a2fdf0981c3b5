// finfo: numerical limits of a floating-point dtype.
#pragma once

#include <ambit/dtype.h>
#include <ambit/error.h>

#include <limits>
#include <string>

namespace ambit {

/// Result of finfo(), with the names of torch.finfo.
struct FloatInfo {
  int bits;                ///< number of bits of one number: 16, 32 or 64
  double eps;              ///< distance from 1 to the next larger number
  double max;              ///< largest finite number
  double min;              ///< -max
  double smallest_normal;  ///< smallest positive normal number
  double tiny;             ///< same as smallest_normal
  double resolution;       ///< 10^-n, with n the decimal digits that the dtype always preserves
};

/// Return the limits of a floating-point dtype; for C++ types use std::numeric_limits. Errors:
/// DTypeError for any other dtype. Source: torch.finfo.
constexpr FloatInfo finfo(DType dtype) {
  if (!is_floating_point(dtype)) {
    throw DTypeError(std::string("finfo: expected a floating-point dtype, got ") + name(dtype));
  }
  return visit<dtypes::kAnyFloating>(dtype, []<class T>() {
    using Limits = std::numeric_limits<T>;
    const double largest = Limits::max(), normal = Limits::min();
    double unit = 1;
    for (int i = 0; i < Limits::digits10; ++i) unit *= 10;
    return FloatInfo{8 * static_cast<int>(sizeof(T)),
                     static_cast<double>(Limits::epsilon()),
                     largest,
                     -largest,
                     normal,
                     normal,
                     1 / unit};
  });
}

}  // namespace ambit
