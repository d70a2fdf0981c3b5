// Arithmetic on single elements where C++'s own is undefined or differs from PyTorch's: integers
// that wrap, division rounded down, minima and maxima in which NaN wins.
#pragma once

#include <cmath>
#include <concepts>
#include <cstdint>
#include <limits>
#include <type_traits>

namespace ambit::cpu {

/// Unsigned, and wide enough not to be promoted to int: its arithmetic wraps.
template <class T>
using Wrapping = std::conditional_t<sizeof(T) == 8, uint64_t, uint32_t>;

template <class T>
T wrap_add(T a, T b) {
  if constexpr (std::same_as<T, bool>)
    return a | b;
  else if constexpr (std::floating_point<T>)
    return a + b;
  else
    return static_cast<T>(static_cast<Wrapping<T>>(a) + static_cast<Wrapping<T>>(b));
}
template <class T>
T wrap_sub(T a, T b) {
  if constexpr (std::floating_point<T>)
    return a - b;
  else
    return static_cast<T>(static_cast<Wrapping<T>>(a) - static_cast<Wrapping<T>>(b));
}
template <class T>
T wrap_mul(T a, T b) {
  if constexpr (std::same_as<T, bool>)
    return a & b;
  else if constexpr (std::floating_point<T>)
    return a * b;
  else
    return static_cast<T>(static_cast<Wrapping<T>>(a) * static_cast<Wrapping<T>>(b));
}

template <class T>
T magnitude(T x) {
  if constexpr (std::floating_point<T>)
    return std::abs(x);
  else if constexpr (std::unsigned_integral<T>)
    return x;
  else
    return x < 0 ? wrap_sub(T(0), x) : x;
}

template <class T>
bool is_infinite(T x) {
  if constexpr (std::floating_point<T>)
    return std::abs(x) == std::numeric_limits<T>::infinity();
  else
    return false;
}
template <class T>
bool is_finite(T x) {
  if constexpr (std::floating_point<T>)
    return std::abs(x) < std::numeric_limits<T>::infinity();
  else
    return true;
}

template <class T>
T maximum(T a, T b) {
  return a > b || a != a ? a : b;
}
template <class T>
T minimum(T a, T b) {
  return a < b || a != a ? a : b;
}

// Of the four divisions, integers need b != 0 and no quotient that overflows.

/// a / b rounded towards zero.
template <class T>
T trunc_divide(T a, T b) {
  if constexpr (std::floating_point<T>)
    return std::trunc(a / b);
  else
    return static_cast<T>(a / b);
}
/// a - b * trunc_divide(a, b): the sign of a.
template <class T>
T truncated_remainder(T a, T b) {
  if constexpr (std::floating_point<T>)
    return std::fmod(a, b);
  else if constexpr (std::signed_integral<T>)
    return b == -1 ? T(0) : static_cast<T>(a % b);
  else
    return static_cast<T>(a % b);
}
/// a - b * floor_divide(a, b): the sign of b.
template <class T>
T remainder(T a, T b) {
  const T r = truncated_remainder(a, b);
  return r != 0 && (r < 0) != (b < 0) ? static_cast<T>(r + b) : r;
}
/// a / b rounded down. Floats as Python does: from the remainder, so that the result is exact where
/// a / b would be rounded up to a whole number.
template <class T>
T floor_divide(T a, T b) {
  if constexpr (std::floating_point<T>) {
    if (b == 0) return a / b;
    const T r = std::fmod(a, b);
    T quotient = (a - r) / b;
    if (r != 0 && (b < 0) != (r < 0)) quotient -= 1;
    if (quotient == 0) return std::copysign(T(0), a / b);
    const T down = std::floor(quotient);
    return quotient - down > T(0.5) ? down + 1 : down;
  } else {
    const T quotient = static_cast<T>(a / b);
    const bool exact = static_cast<T>(quotient * b) == a;
    return !exact && (a < 0) != (b < 0) ? static_cast<T>(quotient - 1) : quotient;
  }
}

/// base to the power, wrapping. A negative power of an integer is 0 but for 1 and -1.
template <class T>
T power(T base, T exponent) {
  if constexpr (std::floating_point<T>) {
    return std::pow(base, exponent);
  } else if constexpr (std::same_as<T, bool>) {
    return base || !exponent;
  } else {
    if constexpr (std::signed_integral<T>) {
      if (exponent < 0) {
        if (base == 1) return 1;
        return base != -1 ? T(0) : exponent % 2 == 0 ? T(1) : T(-1);
      }
    }
    T result = 1;
    for (; exponent > 0; exponent = static_cast<T>(exponent >> 1)) {
      if (exponent & 1) result = wrap_mul(result, base);
      base = wrap_mul(base, base);
    }
    return result;
  }
}

}  // namespace ambit::cpu
