// One number of any dtype, as it stands in `x + 1` or `full({2}, 0.5)`.
#pragma once

#include <ambit/dtype.h>

#include <concepts>
#include <limits>
#include <utility>

namespace ambit {

/// Errors: DTypeError "Scalar: expected a number that fits ...", always.
[[noreturn]] AMBIT_API void throw_scalar_outside(DType asked, double value);

/// A C++ number: keeps whether it was a bool, an integer or a floating-point number.
class Scalar {
 public:
  constexpr Scalar() : Scalar(0) {}
  /// A bool, not what becomes one: a pointer, as "fro" is.
  template <std::same_as<bool> B>
  constexpr Scalar(B v) : integer_(v), dtype_(kBool) {}
  template <std::integral I>
  requires(!std::same_as<I, bool>) constexpr Scalar(I v)
      : integer_(static_cast<int64_t>(v)), dtype_(kInt64) {}
  template <std::floating_point F>
  constexpr Scalar(F v) : real_(static_cast<double>(v)), dtype_(kFloat64) {}
  template <Reduced16 R>
  constexpr Scalar(R v) : Scalar(static_cast<float>(v)) {}

  /// kBool, kInt64 or kFloat64.
  constexpr DType dtype() const { return dtype_; }
  constexpr bool is_floating_point() const { return dtype_ == kFloat64; }

  /// Convert as static_cast does, to the types of 16 bits by float: integers wrap.
  template <class T>
  constexpr T cast() const {
    if constexpr (Reduced16<T>) return cast<float>();
    return is_floating_point() ? static_cast<T>(real_) : static_cast<T>(integer_);
  }
  /// Convert; fractions are lost. Errors: DTypeError where an integer dtype's type does not hold
  /// the number, NaN among them; other integers are those of an int64, modulo 2^bits.
  template <class T>
  constexpr T to() const {
    if constexpr (!std::integral<T> || std::same_as<T, bool>) {
      return cast<T>();
    } else if constexpr (std::same_as<T, uint8_t> ||
                         (std::signed_integral<T> && !std::same_as<T, char>)) {
      return to_integer<T>();
    } else {
      return static_cast<T>(to_integer<int64_t>());
    }
  }

  // The same by libtorch's names.
  double toDouble() const { return to<double>(); }
  float toFloat() const { return to<float>(); }
  Half toHalf() const { return to<Half>(); }
  BFloat16 toBFloat16() const { return to<BFloat16>(); }
  int64_t toLong() const { return to<int64_t>(); }
  int32_t toInt() const { return to<int32_t>(); }
  int16_t toShort() const { return to<int16_t>(); }
  int8_t toChar() const { return to<int8_t>(); }
  uint8_t toByte() const { return to<uint8_t>(); }
  bool toBool() const { return to<bool>(); }
  constexpr DType type() const { return dtype_; }
  constexpr bool isFloatingPoint() const { return is_floating_point(); }
  constexpr bool isBoolean() const { return dtype_ == kBool; }
  constexpr bool isIntegral(bool include_bool) const {
    return dtype_ == kInt64 || (include_bool && isBoolean());
  }
  constexpr bool isComplex() const { return false; }
  /// Errors: DTypeError for a bool.
  AMBIT_API Scalar operator-() const;
  /// Whether the number is `value`, whatever the types.
  template <class T>
  constexpr bool equal(T value) const {
    return is_floating_point()
               ? real_ == static_cast<double>(value)
               : integer_ == static_cast<int64_t>(value) && static_cast<T>(integer_) == value;
  }

 private:
  template <class T>
  constexpr T to_integer() const {
    if constexpr (std::same_as<T, int64_t>) {
      if (!is_floating_point()) return integer_;
    }
    // Both ends as doubles that are exact: -2^n and 2^n.
    constexpr double low = static_cast<double>(std::numeric_limits<T>::min());
    constexpr double high = static_cast<double>(std::numeric_limits<T>::max() / 2 + 1) * 2;
    if (is_floating_point() ? !(real_ > low - 1 || real_ == low) || !(real_ < high)
                            : !std::in_range<T>(integer_)) {
      throw_scalar_outside(dtype_of<T>, cast<double>());
    }
    return cast<T>();
  }

  union {
    int64_t integer_;
    double real_;
  };
  DType dtype_;
};

AMBIT_API std::ostream& operator<<(std::ostream& os, const Scalar& s);

}  // namespace ambit
