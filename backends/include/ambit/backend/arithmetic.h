// Arithmetic on single elements, for kernels of any backend, on host or device, where C++'s own is
// undefined or differs from PyTorch's: wrapping integers, floor division, NaN-propagating minimum
// and maximum. Everything is computed in the element type.
#pragma once

#include <ambit/api.h>

#include <cmath>
#include <concepts>
#include <cstdint>
#include <limits>
#include <type_traits>

namespace ambit::arithmetic {

/// Unsigned type whose arithmetic wraps; at least 32 bits, so that it is not promoted to int.
template <class T>
using Wrapping = std::conditional_t<sizeof(T) == 8, uint64_t, uint32_t>;

/// Return a + b, wrapping for integers; "or" for bool.
template <class T>
AMBIT_HOST_DEVICE T wrap_add(T a, T b) {
  if constexpr (std::same_as<T, bool>)
    return a | b;
  else if constexpr (std::floating_point<T>)
    return a + b;
  else
    return static_cast<T>(static_cast<Wrapping<T>>(a) + static_cast<Wrapping<T>>(b));
}
/// Return a - b, wrapping for integers; not for bool.
template <class T>
AMBIT_HOST_DEVICE T wrap_sub(T a, T b) {
  if constexpr (std::floating_point<T>)
    return a - b;
  else
    return static_cast<T>(static_cast<Wrapping<T>>(a) - static_cast<Wrapping<T>>(b));
}
/// Return a * b, wrapping for integers; "and" for bool.
template <class T>
AMBIT_HOST_DEVICE T wrap_mul(T a, T b) {
  if constexpr (std::same_as<T, bool>)
    return a & b;
  else if constexpr (std::floating_point<T>)
    return a * b;
  else
    return static_cast<T>(static_cast<Wrapping<T>>(a) * static_cast<Wrapping<T>>(b));
}

/// Return x < 0, without a compiler warning for unsigned types.
template <class T>
AMBIT_HOST_DEVICE bool is_negative(T x) {
  if constexpr (std::is_unsigned_v<T>)
    return false;
  else
    return x < 0;
}

/// Return true if the sign bit is set, also for -0.0 and NaN.
template <class T>
AMBIT_HOST_DEVICE bool has_sign(T x) {
  if constexpr (std::floating_point<T>)
    return std::signbit(x);
  else
    return is_negative(x);
}

/// Return -x; unlike 0 - x it maps 0.0 to -0.0.
template <class T>
AMBIT_HOST_DEVICE T negative(T x) {
  if constexpr (std::floating_point<T>)
    return -x;
  else
    return wrap_sub(T(0), x);
}

/// Return |x|; the smallest integer wraps to itself.
template <class T>
AMBIT_HOST_DEVICE T magnitude(T x) {
  if constexpr (std::floating_point<T>)
    return std::fabs(x);
  else
    return is_negative(x) ? wrap_sub(T(0), x) : x;
}

/// Return ~x; for bool !x.
template <class T>
AMBIT_HOST_DEVICE T complement(T x) {
  if constexpr (std::same_as<T, bool>)
    return !x;
  else
    return static_cast<T>(~x);
}

/// Return true for infinities; false for integers.
template <class T>
AMBIT_HOST_DEVICE bool is_infinite(T x) {
  if constexpr (std::floating_point<T>)
    return std::fabs(x) == std::numeric_limits<T>::infinity();
  else
    return false;
}
/// Return false for infinities and NaN; true for integers.
template <class T>
AMBIT_HOST_DEVICE bool is_finite(T x) {
  if constexpr (std::floating_point<T>)
    return std::fabs(x) < std::numeric_limits<T>::infinity();
  else
    return true;
}

/// Return the larger (maximum) or smaller (minimum) number, NaN if one is NaN, a if they are equal,
/// as for -0 and 0. Two selects, because compilers do not vectorise a single select on a combined
/// condition.
/// @{
template <class T>
AMBIT_HOST_DEVICE T maximum(T a, T b) {
  const T larger = a < b ? b : a;
  return b != b ? b : larger;
}
template <class T>
AMBIT_HOST_DEVICE T minimum(T a, T b) {
  const T smaller = a > b ? b : a;
  return b != b ? b : smaller;
}
/// @}
/// Return a / (a^2 + b^2), 0 at (0, 0). Does not compute the squares, which may underflow.
template <class T>
AMBIT_HOST_DEVICE T angle_slope(T a, T b) {
  constexpr T kLeast = static_cast<T>(sizeof(T) == 8 ? 4.94065645841246544e-324 : 1.4012984643e-45);
  const T length = maximum(std::hypot(a, b), kLeast);
  return a / length / length;
}
/// Return a + weight (b - a), computed from the nearer end: exact at both ends and for equal ends,
/// and within [a, b] for a weight in [0, 1]. Halving the difference prevents overflow.
template <class T>
AMBIT_HOST_DEVICE T lerp(T a, T b, T weight) {
  const T half = T(0.5) * b - T(0.5) * a;
  const bool near_a = std::fabs(weight) < T(0.5);
  return (near_a ? a : b) + T(2) * ((near_a ? weight : weight - 1) * half);
}
/// Return true if b replaces a as the extreme value: b is strictly better, or b is the first NaN.
template <class T>
AMBIT_HOST_DEVICE bool beats(T b, T a, bool largest) {
  const bool better = largest ? b > a : b < a;
  if constexpr (std::floating_point<T>) return better | ((b != b) & (a == a));
  return better;
}
/// The identity of maximum (largest) or minimum: every element beats or equals it.
template <class T>
AMBIT_HOST_DEVICE constexpr T worst(bool largest) {
  using Limits = std::numeric_limits<T>;
  constexpr T kLeast = Limits::has_infinity ? -Limits::infinity() : Limits::lowest();
  constexpr T kMost = Limits::has_infinity ? Limits::infinity() : Limits::max();
  return largest ? kLeast : kMost;
}

// For integers, the four divisions below require b != 0 and a quotient that does not overflow.

/// Return a / b rounded towards zero.
template <class T>
AMBIT_HOST_DEVICE T trunc_divide(T a, T b) {
  if constexpr (std::floating_point<T>)
    return std::trunc(a / b);
  else
    return static_cast<T>(a / b);
}
/// Return a - b * trunc_divide(a, b); it has the sign of a.
template <class T>
AMBIT_HOST_DEVICE T truncated_remainder(T a, T b) {
  if constexpr (std::floating_point<T>)
    return std::fmod(a, b);
  else if constexpr (std::signed_integral<T>)
    return b == -1 ? T(0) : static_cast<T>(a % b);
  else
    return static_cast<T>(a % b);
}
/// Return a - b * floor_divide(a, b); it has the sign of b, as Python's %.
template <class T>
AMBIT_HOST_DEVICE T remainder(T a, T b) {
  const T r = truncated_remainder(a, b);
  return r != 0 && is_negative(r) != is_negative(b) ? static_cast<T>(r + b) : r;
}
/// Return a / b rounded down, as Python's //. Floats are computed from the remainder, which is
/// exact where a / b would round up to an integer. Source: div_floor_floating in PyTorch's
/// aten/src/ATen/native/BinaryOps.h.
template <class T>
AMBIT_HOST_DEVICE T floor_divide(T a, T b) {
  if constexpr (std::floating_point<T>) {
    if (b == 0) return a / b;
    const T r = std::fmod(a, b);
    T quotient = (a - r) / b;  // an integer up to rounding
    if (r != 0 && is_negative(r) != is_negative(b)) quotient -= 1;
    if (quotient == 0) return std::copysign(T(0), a / b);
    const T down = std::floor(quotient);
    return quotient - down > T(0.5) ? down + 1 : down;
  } else {
    const T quotient = static_cast<T>(a / b);
    const bool exact = static_cast<T>(quotient * b) == a;
    return !exact && is_negative(a) != is_negative(b) ? static_cast<T>(quotient - 1) : quotient;
  }
}

/// Return base^exponent. Integers wrap; their negative powers are 0 unless base is 1 or -1.
template <class T>
AMBIT_HOST_DEVICE T power(T base, T exponent) {
  if constexpr (std::floating_point<T>) {
    return std::pow(base, exponent);
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

/// Euclid's algorithm on unsigned magnitudes; the magnitude of the lowest integer wraps to itself.
template <class T>
AMBIT_HOST_DEVICE T greatest_divisor(T a, T b) {
  auto x = static_cast<std::make_unsigned_t<T>>(magnitude(a));
  auto y = static_cast<std::make_unsigned_t<T>>(magnitude(b));
  while (y != 0) {
    const auto rest = static_cast<decltype(x)>(x % y);
    x = y;
    y = rest;
  }
  return static_cast<T>(x);
}
/// Return |a| / gcd(a, b) |b|, wrapping.
template <class T>
AMBIT_HOST_DEVICE T least_multiple(T a, T b) {
  const T divisor = greatest_divisor(a, b);
  if (divisor == 0) return 0;
  using U = std::make_unsigned_t<T>;
  const U factor = static_cast<U>(static_cast<U>(magnitude(a)) / static_cast<U>(divisor));
  return wrap_mul(static_cast<T>(factor), magnitude(b));
}

/// Return a 2^b, wrapping; 0 if b is negative or at least the number of bits.
template <class T>
AMBIT_HOST_DEVICE T shift_left(T a, T b) {
  if (is_negative(b) || b >= static_cast<T>(8 * sizeof(T))) return 0;
  return static_cast<T>(static_cast<Wrapping<T>>(a) << static_cast<int>(b));
}
/// Return a / 2^b rounded down; if b is negative or at least the number of bits, -1 for negative a,
/// else 0.
template <class T>
AMBIT_HOST_DEVICE T shift_right(T a, T b) {
  if (is_negative(b) || b >= static_cast<T>(8 * sizeof(T))) return is_negative(a) ? T(-1) : T(0);
  return static_cast<T>(a >> static_cast<int>(b));
}

/// Return log(e^a + e^b). Equal infinities are a special case: their difference is NaN.
template <class T>
AMBIT_HOST_DEVICE T log_add_exp(T a, T b) {
  if (a == b && is_infinite(a)) return a;
  return maximum(a, b) + std::log1p(std::exp(-std::fabs(a - b)));
}
/// Return log2(2^a + 2^b).
template <class T>
AMBIT_HOST_DEVICE T log_add_exp2(T a, T b) {
  if (a == b && is_infinite(a)) return a;
  return maximum(a, b) + std::log1p(std::exp2(-std::fabs(a - b))) * T(1.44269504088896340736);
}

/// static_cast, but defined for every value as kernels::copy specifies. Integers narrower than 32
/// bits keep the low bits of the int32, as PyTorch on x86-64: -1.5 is 255 as uint8, 1e10 is 0.
/// Costs one comparison and one select besides the conversion, and vectorises.
template <class To, class From>
AMBIT_HOST_DEVICE To convert(From x) {
  if constexpr (std::floating_point<From> && std::integral<To> && !std::same_as<To, bool>) {
    using Whole = std::conditional_t<sizeof(To) == 8, int64_t, int32_t>;
    constexpr From kLeast = static_cast<From>(std::numeric_limits<Whole>::min());
    const bool fits = (x >= kLeast) & (x < -kLeast);
    return static_cast<To>(static_cast<Whole>(fits ? x : kLeast));
  } else {
    return static_cast<To>(x);
  }
}

}  // namespace ambit::arithmetic
