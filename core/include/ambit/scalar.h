// One number of any dtype, as it stands in `x + 1` or `full({2}, 0.5)`.
#pragma once

#include <ambit/dtype.h>

#include <concepts>

namespace ambit {

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

  /// kBool, kInt64 or kFloat64.
  constexpr DType dtype() const { return dtype_; }
  constexpr bool is_floating_point() const { return dtype_ == kFloat64; }

  /// Convert as static_cast does.
  template <class T>
  constexpr T to() const {
    return is_floating_point() ? static_cast<T>(real_) : static_cast<T>(integer_);
  }

 private:
  union {
    int64_t integer_;
    double real_;
  };
  DType dtype_;
};

AMBIT_API std::ostream& operator<<(std::ostream& os, const Scalar& s);

}  // namespace ambit
