// Scalar: one number of any dtype, as in `x + 1` or `full({2}, 0.5)`.
#pragma once

#include <ambit/dtype.h>

#include <concepts>
#include <limits>
#include <utility>

namespace ambit {

/// Always throw DTypeError "Scalar: expected a number that fits ...".
[[noreturn]] AMBIT_API void throw_scalar_outside(DType asked, double value);

/// A C++ number that remembers whether it was a bool, an integer or a floating-point number.
class Scalar {
 public:
  /// The integer 0.
  constexpr Scalar() : Scalar(0) {}
  /// A bool; only from bool itself, not from types that convert to it, such as the pointer "fro".
  template <std::same_as<bool> B>
  constexpr Scalar(B v) : integer_(v), dtype_(kBool) {}
  /// An integer, stored as int64, or as uint64 if no int64 holds it.
  template <std::integral I>
  requires(!std::same_as<I, bool>) constexpr Scalar(I v)
      : integer_(static_cast<int64_t>(v)), dtype_(kInt64) {
    if constexpr (std::unsigned_integral<I> && sizeof(I) == sizeof(int64_t)) {
      if (integer_ < 0) dtype_ = kUInt64;
    }
  }
  /// A floating-point number, stored as double.
  template <std::floating_point F>
  constexpr Scalar(F v) : real_(static_cast<double>(v)), dtype_(kFloat64) {}
  /// A float16 or bfloat16 number, stored as double.
  template <ReducedFloat R>
  constexpr Scalar(R v) : Scalar(static_cast<float>(v)) {}

  /// Return kBool, kInt64, kUInt64 (only for integers that no int64 holds) or kFloat64.
  constexpr DType dtype() const { return dtype_; }
  /// Return true if dtype() is kFloat64.
  constexpr bool is_floating_point() const { return dtype_ == kFloat64; }

  /// Convert as static_cast does, to Half and BFloat16 through float; integers wrap.
  template <class T>
  constexpr T cast() const {
    if constexpr (ReducedFloat<T>) return cast<float>();
    if constexpr (std::floating_point<T>) {
      if (dtype_ == kUInt64) return static_cast<T>(static_cast<uint64_t>(integer_));
    }
    return is_floating_point() ? static_cast<T>(real_) : static_cast<T>(integer_);
  }
  /// Convert; fractions are truncated. Errors: DTypeError if the type of an integer dtype cannot
  /// hold the number, or for NaN; other integer types get the int64 or, if they have 64 bits, the
  /// uint64 modulo 2^bits.
  template <class T>
  constexpr T to() const {
    if constexpr (!std::integral<T> || std::same_as<T, bool>) {
      return cast<T>();
    } else if constexpr (std::same_as<T, uint8_t> ||
                         (std::signed_integral<T> && !std::same_as<T, char>)) {
      return to_integer<T>();
    } else if constexpr (std::unsigned_integral<T> && sizeof(T) == sizeof(uint64_t)) {
      return static_cast<T>(to_uint64());
    } else {
      return static_cast<T>(to_integer<int64_t>());
    }
  }

  /// libtorch's names of to<T>(). Errors: those of to().
  /// @{
  double toDouble() const { return to<double>(); }
  float toFloat() const { return to<float>(); }
  Half toHalf() const { return to<Half>(); }
  BFloat16 toBFloat16() const { return to<BFloat16>(); }
  int64_t toLong() const { return to<int64_t>(); }
  int32_t toInt() const { return to<int32_t>(); }
  int16_t toShort() const { return to<int16_t>(); }
  int8_t toChar() const { return to<int8_t>(); }
  uint8_t toByte() const { return to<uint8_t>(); }
  uint16_t toUInt16() const { return to<uint16_t>(); }
  uint32_t toUInt32() const { return to<uint32_t>(); }
  uint64_t toUInt64() const { return to<uint64_t>(); }
  bool toBool() const { return to<bool>(); }
  /// @}
  /// libtorch's names of dtype() and comparisons with it.
  /// @{
  constexpr DType type() const { return dtype_; }
  constexpr bool isFloatingPoint() const { return is_floating_point(); }
  constexpr bool isBoolean() const { return dtype_ == kBool; }
  constexpr bool isIntegral(bool include_bool) const {
    return dtype_ == kInt64 || dtype_ == kUInt64 || (include_bool && isBoolean());
  }
  constexpr bool isComplex() const { return false; }
  /// @}
  /// Return the negative number. Errors: DTypeError for a bool.
  AMBIT_API Scalar operator-() const;
  /// Return true if the number equals `value`, whatever the types.
  template <class T>
  constexpr bool equal(T value) const {
    if (dtype_ == kUInt64) {
      return value > T(0) && static_cast<uint64_t>(value) == static_cast<uint64_t>(integer_);
    }
    return is_floating_point()
               ? real_ == static_cast<double>(value)
               : integer_ == static_cast<int64_t>(value) && static_cast<T>(integer_) == value;
  }

 private:
  template <class T>
  constexpr T to_integer() const {
    if constexpr (std::same_as<T, int64_t>) {
      if (dtype_ <= kInt64) return integer_;
    }
    // Both limits as exact doubles: -2^n and 2^n.
    constexpr double low = static_cast<double>(std::numeric_limits<T>::min());
    constexpr double high = static_cast<double>(std::numeric_limits<T>::max() / 2 + 1) * 2;
    if (is_floating_point() ? !(real_ > low - 1 || real_ == low) || !(real_ < high)
                            : dtype_ == kUInt64 || !std::in_range<T>(integer_)) {
      throw_scalar_outside(dtype_of<T>, cast<double>());
    }
    return cast<T>();
  }
  constexpr uint64_t to_uint64() const {
    if (!is_floating_point()) return static_cast<uint64_t>(integer_);
    if (real_ >= 0x1p63 && real_ < 0x1p64) return static_cast<uint64_t>(real_);
    return static_cast<uint64_t>(to_integer<int64_t>());
  }

  union {
    int64_t integer_;
    double real_;
  };
  DType dtype_;
};

/// Print the number: "true", "3", "0.5".
AMBIT_API std::ostream& operator<<(std::ostream& os, const Scalar& s);

}  // namespace ambit
