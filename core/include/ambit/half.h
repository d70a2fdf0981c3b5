// Half and BFloat16: reduced floating-point types of 16 bits; arithmetic is done in float and
// rounded. Sources: IEEE 754-2008 binary16; Intel, "BFLOAT16 - Hardware Numerics Definition", 2018.
// The operators follow libtorch's c10/util/Half-inl.h.
#pragma once

#include <ambit/api.h>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <ostream>

namespace ambit {

/// A sign bit, 15 - F exponent bits and F fraction bits. Conversion from float rounds to nearest,
/// ties to even; values half a step or more above the largest become infinity; a NaN keeps its
/// sign.
template <int F>
struct Binary16 {
  uint16_t x;  ///< the bits

  /// The type of from_bits().
  struct from_bits_t {};
  /// A tag, to construct from bits: Half(0x3c00, Half::from_bits()) is 1.
  AMBIT_HOST_DEVICE static constexpr from_bits_t from_bits() { return {}; }

  /// Uninitialised, as a float.
  Binary16() = default;
  /// The number with these bits.
  AMBIT_HOST_DEVICE constexpr Binary16(uint16_t bits, from_bits_t) : x(bits) {}
  /// The nearest number, ties to even.
  AMBIT_HOST_DEVICE constexpr Binary16(float value) : x(round(value)) {}
  /// Convert to float, exactly.
  AMBIT_HOST_DEVICE constexpr operator float() const { return upcast(x); }

  /// Flip the sign bit, also of NaN.
  AMBIT_HOST_DEVICE friend constexpr Binary16 operator-(Binary16 a) {
    return {static_cast<uint16_t>(a.x ^ 0x8000), from_bits()};
  }
#define AMBIT_BINARY16_OPERATOR(op)                                                      \
  AMBIT_HOST_DEVICE friend constexpr Binary16 operator op(Binary16 a, Binary16 b) {      \
    return static_cast<float>(a) op static_cast<float>(b);                               \
  }                                                                                      \
  AMBIT_HOST_DEVICE friend constexpr Binary16& operator op##=(Binary16& a, Binary16 b) { \
    return a = a op b;                                                                   \
  }                                                                                      \
  template <std::floating_point R>                                                       \
  AMBIT_HOST_DEVICE friend constexpr R operator op(Binary16 a, R b) {                    \
    return static_cast<R>(a) op b;                                                       \
  }                                                                                      \
  template <std::floating_point R>                                                       \
  AMBIT_HOST_DEVICE friend constexpr R operator op(R a, Binary16 b) {                    \
    return a op static_cast<R>(b);                                                       \
  }                                                                                      \
  template <std::integral I>                                                             \
  AMBIT_HOST_DEVICE friend constexpr Binary16 operator op(Binary16 a, I b) {             \
    return a op static_cast<Binary16>(static_cast<float>(b));                            \
  }                                                                                      \
  template <std::integral I>                                                             \
  AMBIT_HOST_DEVICE friend constexpr Binary16 operator op(I a, Binary16 b) {             \
    return static_cast<Binary16>(static_cast<float>(a)) op b;                            \
  }
  /// Arithmetic in float or the wider type. With Binary16 or an integer the result is rounded to
  /// Binary16, else it has the other type. Comparisons are in float.
  /// @{
  AMBIT_BINARY16_OPERATOR(+)
  AMBIT_BINARY16_OPERATOR(-)
  AMBIT_BINARY16_OPERATOR(*)
  AMBIT_BINARY16_OPERATOR(/)
  /// @}
#undef AMBIT_BINARY16_OPERATOR

 private:
  static constexpr int kDropped = 23 - F;                          // bits of a float's fraction
  static constexpr uint32_t kInfinity = 0x7fff >> F << F;          // exponent all ones, fraction 0
  static constexpr uint32_t kRebias = 127 - (kInfinity >> F) / 2;  // of a float's exponent

  AMBIT_HOST_DEVICE static constexpr uint16_t round(float value) {
    const auto bits = __builtin_bit_cast(uint32_t, value);
    const uint32_t sign = bits >> 16 & 0x8000, magnitude = bits & 0x7fffffff;
    if (magnitude > 0x7f800000) {  // NaN: quiet, with the upper bits of its payload
      const uint32_t payload = magnitude >> kDropped & ((1u << F) - 1);
      return static_cast<uint16_t>(sign | kInfinity | 1u << (F - 1) | payload);
    }
    uint32_t result = 0;
    if (kRebias == 0 || magnitude >= (kRebias + 1) << 23) {
      const uint32_t rebased = magnitude - (kRebias << 23);
      result = (rebased + (1u << (kDropped - 1)) - 1 + (rebased >> kDropped & 1)) >> kDropped;
      if (result > kInfinity) result = kInfinity;
    } else if (magnitude >> 23 >= kRebias - F) {  // subnormal: fewer bits
      const uint32_t fraction = (magnitude & 0x7fffff) | 0x800000;
      const uint32_t dropped = kDropped + kRebias + 1 - (magnitude >> 23);
      result = (fraction + (1u << (dropped - 1)) - 1 + (fraction >> dropped & 1)) >> dropped;
    }
    return static_cast<uint16_t>(sign | result);
  }

  AMBIT_HOST_DEVICE static constexpr float upcast(uint16_t bits) {
    const uint32_t sign = static_cast<uint32_t>(bits & 0x8000) << 16, magnitude = bits & 0x7fff;
    uint32_t result = (magnitude << kDropped) + (kRebias << 23);
    if (kRebias == 0) {
      result = magnitude << kDropped;
    } else if (magnitude >= kInfinity) {
      result = 0x7f800000 | magnitude << kDropped | (magnitude > kInfinity ? 0x400000 : 0);
    } else if (magnitude < 1u << F) {
      result = __builtin_bit_cast(uint32_t, static_cast<float>(magnitude) * 0x1p-24f);
    }
    return __builtin_bit_cast(float, sign | result);
  }
};

/// IEEE binary16: 11 significant bits, up to 65504, normal from 2^-14 on.
using Half = Binary16<10>;
/// The upper half of a float: 8 significant bits, the range of float.
using BFloat16 = Binary16<7>;

/// The C++ types of the reduced floating-point dtypes.
template <class T>
concept ReducedFloat = std::same_as<T, Half> || std::same_as<T, BFloat16>;

/// Print the number as a float.
template <int F>
std::ostream& operator<<(std::ostream& os, Binary16<F> value) {
  return os << static_cast<float>(value);
}

}  // namespace ambit

/// @cond
template <int F>
class std::numeric_limits<ambit::Binary16<F>> {
  using T = ambit::Binary16<F>;
  static constexpr T of(unsigned bits) { return {static_cast<uint16_t>(bits), T::from_bits()}; }
  static constexpr unsigned kInfinity = 0x7fff >> F << F;

 public:
  static constexpr bool is_specialized = true, is_signed = true, is_integer = false,
                        is_exact = false, is_iec559 = true, is_bounded = true, is_modulo = false;
  static constexpr bool has_infinity = true, has_quiet_NaN = true, has_signaling_NaN = true;
  static constexpr std::float_denorm_style has_denorm = numeric_limits<float>::has_denorm;
  static constexpr bool has_denorm_loss = numeric_limits<float>::has_denorm_loss;
  static constexpr std::float_round_style round_style = std::round_to_nearest;
  static constexpr bool traps = numeric_limits<float>::traps;
  static constexpr bool tinyness_before = numeric_limits<float>::tinyness_before;
  static constexpr int digits = F + 1, digits10 = F * 301 / 1000, radix = 2;
  static constexpr int max_digits10 = 2 + digits * 301 / 1000;
  static constexpr int max_exponent = 1 << (14 - F), min_exponent = 3 - max_exponent;
  static constexpr int max_exponent10 = max_exponent * 301 / 1000;
  static constexpr int min_exponent10 = (min_exponent - 1) * 301 / 1000;
  static constexpr T min() { return of(1 << F); }
  static constexpr T lowest() { return of(0x8000 | (kInfinity - 1)); }
  static constexpr T max() { return of(kInfinity - 1); }
  static constexpr T epsilon() { return T(1.f / (1 << F)); }
  static constexpr T round_error() { return T(0.5f); }
  static constexpr T infinity() { return of(kInfinity); }
  static constexpr T quiet_NaN() { return of(kInfinity | 1 << (F - 1)); }
  static constexpr T signaling_NaN() { return of(kInfinity | 1 << (F - 2)); }
  static constexpr T denorm_min() { return of(1); }
};

template <int F>
struct std::hash<ambit::Binary16<F>> {
  size_t operator()(ambit::Binary16<F> value) const { return std::hash<float>()(value); }
};
/// @endcond
