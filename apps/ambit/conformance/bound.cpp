#include "bound.h"

#include <ambit/finfo.h>
#include <fmt/format.h>

#include <algorithm>
#include <limits>

namespace conformance {
namespace {

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
    const double error = ambit::error_in_bounds(a, b, bound.ulps, bound.absolute_of(i));
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
