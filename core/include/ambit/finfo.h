// finfo: the numbers that a floating-point dtype has.
#pragma once

#include <ambit/dtype.h>
#include <ambit/error.h>

#include <limits>
#include <string>

namespace ambit {

/// What finfo says, under the names of torch.finfo.
struct FloatInfo {
  int bits;
  double eps;              ///< from 1 to the next larger number
  double max, min;         ///< min = -max
  double smallest_normal;  ///< the least that is positive and has all its digits
  double tiny;             ///< the same
  double resolution;       ///< 10^-digits, of as many decimal digits as every number keeps
};

/// Return the limits of a floating-point dtype; of C++ types std::numeric_limits has them.
/// Errors: DTypeError for another dtype.
/// Source: torch.finfo.
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
