// What sums and products are kept in: float64 for floats, so that a result is rounded once (these
// kernels wait for memory, not for arithmetic); 64 bits for integers, which wrap as narrower ones
// do. And which of two elements is the greater, where NaN wins.
#pragma once

#include <ambit/backend/philox.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

namespace ambit::cuda {

template <class T>
using Accumulator = std::conditional_t<std::is_floating_point_v<T>, double, uint64_t>;

/// Whether b takes the place of a as the extreme of both; the first NaN stays.
template <class T>
AMBIT_HOST_DEVICE bool beats(T b, T a, bool largest) {
  if constexpr (std::is_floating_point_v<T>) {
    if (std::isnan(a)) return false;
    if (std::isnan(b)) return true;
  }
  return largest ? b > a : b < a;
}

/// Return what every element beats or equals.
template <class T>
AMBIT_HOST_DEVICE constexpr T worst(bool largest) {
  using Limits = std::numeric_limits<T>;
  constexpr T kLeast = Limits::has_infinity ? -Limits::infinity() : Limits::lowest();
  constexpr T kMost = Limits::has_infinity ? Limits::infinity() : Limits::max();
  return largest ? kLeast : kMost;
}

/// A position and what stands there; index -1: nothing yet.
template <class T>
struct Extreme {
  T value;
  int64_t index;
};

/// The extreme of two, of equals the first.
template <class T>
AMBIT_HOST_DEVICE Extreme<T> better(const Extreme<T>& a, const Extreme<T>& b, bool largest) {
  if (a.index < 0 || b.index < 0) return a.index < 0 ? b : a;
  const bool tie = !beats(a.value, b.value, largest) && !beats(b.value, a.value, largest);
  const bool takes_b = tie ? b.index < a.index : beats(b.value, a.value, largest);
  return takes_b ? b : a;
}

}  // namespace ambit::cuda
