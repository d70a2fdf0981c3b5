// Conversion of elements between dtypes, as specified for kernels::copy and kernels::fill.
#pragma once

#include <ambit/scalar.h>

#include <cstdint>
#include <limits>
#include <type_traits>

namespace ambit::reference {

// Convert a float to an integer as kernels::copy specifies: truncate; values out of range give the
// lowest Whole.
template <class Whole>
Whole whole_of(double x) {
  constexpr double kLeast = static_cast<double>(std::numeric_limits<Whole>::min());
  return x >= kLeast && x < -kLeast ? static_cast<Whole>(x) : std::numeric_limits<Whole>::min();
}

template <class To, class From>
To convert(From x) {
  if constexpr (std::is_same_v<To, From>) {
    return x;
  } else if constexpr (ReducedFloat<From>) {
    return convert<To>(static_cast<float>(x));
  } else if constexpr (std::is_floating_point_v<From> && std::is_integral_v<To> &&
                       !std::is_same_v<To, bool>) {
    if constexpr (std::is_same_v<To, int64_t>) return whole_of<int64_t>(x);
    return static_cast<To>(whole_of<int32_t>(x));
  } else {
    return static_cast<To>(x);
  }
}

/// Return a number converted to an element. Errors: DTypeError for a number from 2^63 on, if T is
/// an integer type.
template <class T>
T element_of(const Scalar& value) {
  if constexpr (!std::is_integral_v<T> || std::is_same_v<T, bool>) {
    if (value.dtype() == kUInt64) return value.cast<T>();
  }
  return value.is_floating_point() ? convert<T>(value.to<double>())
                                   : convert<T>(value.to<int64_t>());
}

}  // namespace ambit::reference
