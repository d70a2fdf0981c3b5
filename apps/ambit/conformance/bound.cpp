#include "bound.h"

#include <ambit/finfo.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace conformance {
namespace {

/// Return the error in units of the bound: 0 for equal elements, infinity if no bound can hold.
template <class T>
double error_of(T got, T expected, const Bound& bound) {
  if (got == expected) return 0;
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  if constexpr (kIsFloat<T>) {
    using Limits = std::numeric_limits<T>;
    const double y = static_cast<double>(got), x = static_cast<double>(expected);
    if (std::isnan(y) && std::isnan(x)) return 0;
    if (!std::isfinite(y) || !std::isfinite(x)) return kInfinity;
    const double least = static_cast<double>(Limits::denorm_min());
    const double ulp = std::max(std::abs(x) * epsilon(ambit::dtype_of<T>), least);
    double allowed = bound.ulps * ulp + bound.absolute;
    if (ambit::ReducedFloat<T> && allowed > 0) {
      allowed += std::max(std::abs(x) * last_place(ambit::dtype_of<T>), least);
    }
    return allowed > 0 ? std::abs(y - x) / allowed : kInfinity;
  }
  return kInfinity;
}

template <class T>
std::string text(T x) {
  if constexpr (kIsFloat<T>) {
    return fmt::format("{:.{}g}", static_cast<double>(x), std::numeric_limits<T>::max_digits10);
  } else {
    return fmt::format("{}", static_cast<int64_t>(x));
  }
}

template <class T>
Difference compare_as(const std::byte* got, const std::byte* expected,
                      const std::vector<int64_t>& positions, const Bound& bound) {
  const T *y = reinterpret_cast<const T*>(got), *x = reinterpret_cast<const T*>(expected);
  Difference d;
  for (size_t i = 0; i < positions.size(); ++i) {
    const T a = y[positions[i]], b = x[positions[i]];
    const double error = error_of(a, b, bound);
    d.error = std::max(d.error, error);
    if (error <= 1) continue;
    if (d.count++ > 0) continue;
    d.first = static_cast<int64_t>(i);
    d.got = text(a);
    d.expected = text(b);
  }
  return d;
}

}  // namespace

double epsilon(ambit::DType dtype) {
  if (!ambit::is_floating_point(dtype)) return 0;
  return ambit::finfo(ambit::is_reduced_floating(dtype) ? ambit::kFloat32 : dtype).eps;
}

double last_place(ambit::DType dtype) {
  return ambit::is_reduced_floating(dtype) ? ambit::finfo(dtype).eps : 0;
}

Difference compare(ambit::DType dtype, const std::byte* got, const std::byte* expected,
                   const std::vector<int64_t>& positions, const Bound& bound) {
  // A bool that a kernel did not write, or wrote incorrectly, may be any byte.
  if (dtype == ambit::kBool) dtype = ambit::kUInt8;
  return ambit::visit<ambit::dtypes::kEvery>(
      dtype, [&]<class T>() { return compare_as<T>(got, expected, positions, bound); });
}

}  // namespace conformance
