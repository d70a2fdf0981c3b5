// Ops that treat each element alone. Operands broadcast; dtypes promote as in libtorch (tensor
// before 0-dim tensor before Scalar); 0-dim cpu tensors mix with any device. Errors of all:
// DeviceMismatchError, ShapeError (no common shape), DTypeError. In place (`name_`) the result must
// fit self's shape and dtype. Gradients: every floating-point operand, where one exists.
#pragma once

#include <ambit/function_table.h>
#include <ambit/tensor.h>

namespace ambit {

// Every name(self, other) has a version name_(self, other), which writes into self and returns it.

/// Compute self + alpha * other; of bool "or". alpha: of self's category or a lower one.
AMBIT_API Tensor add(const Tensor& self, const Tensor& other, const Scalar& alpha = 1);
AMBIT_API Tensor add(const Tensor& self, const Scalar& other, const Scalar& alpha = 1);
AMBIT_API const Tensor& add_(const Tensor& self, const Tensor& other, const Scalar& alpha = 1);
AMBIT_API const Tensor& add_(const Tensor& self, const Scalar& other, const Scalar& alpha = 1);
/// Compute self - alpha * other. Errors: also DTypeError for bool.
AMBIT_API Tensor sub(const Tensor& self, const Tensor& other, const Scalar& alpha = 1);
AMBIT_API Tensor sub(const Tensor& self, const Scalar& other, const Scalar& alpha = 1);
AMBIT_API const Tensor& sub_(const Tensor& self, const Tensor& other, const Scalar& alpha = 1);
AMBIT_API const Tensor& sub_(const Tensor& self, const Scalar& other, const Scalar& alpha = 1);
/// Compute other - self. Errors: also DTypeError for bool.
AMBIT_API Tensor rsub(const Tensor& self, const Scalar& other);

#define AMBIT_BINARY(name)                                                  \
  AMBIT_API Tensor name(const Tensor& self, const Tensor& other);           \
  AMBIT_API Tensor name(const Tensor& self, const Scalar& other);           \
  AMBIT_API const Tensor& name##_(const Tensor& self, const Tensor& other); \
  AMBIT_API const Tensor& name##_(const Tensor& self, const Scalar& other);
/// Compute self * other; of bool "and". Integers wrap around.
AMBIT_BINARY(mul)
/// Compute self / other; integers and bool give floats.
AMBIT_BINARY(div)
/// Compute self / other rounded to minus infinity, as Python's //. Errors: also Error for integers
/// divided by 0, and the least integer by -1. Gradient: 0.
AMBIT_BINARY(floor_divide)
/// Compute self - other * floor(self / other): the sign of other, as Python's %. Errors: also Error
/// for integers divided by 0.
AMBIT_BINARY(remainder)
/// Compute self - other * trunc(self / other): the sign of self, as C's fmod. Errors: as remainder.
AMBIT_BINARY(fmod)
/// Compute self to the power of other; integers wrap around. Errors: also Error for integers to a
/// negative integer number.
AMBIT_BINARY(pow)
// Comparisons give bool and have no gradient; nothing is equal to, less or greater than NaN.
/// Return whether self == other, element by element.
AMBIT_BINARY(eq)
/// Return whether self != other, element by element; true for NaN.
AMBIT_BINARY(ne)
/// Return whether self < other, element by element.
AMBIT_BINARY(lt)
/// Return whether self <= other, element by element.
AMBIT_BINARY(le)
/// Return whether self > other, element by element.
AMBIT_BINARY(gt)
/// Return whether self >= other, element by element.
AMBIT_BINARY(ge)
/// Compute self & other, bit by bit; of bool "and". bool and integers.
AMBIT_BINARY(bitwise_and)
/// Compute self | other, bit by bit; of bool "or". bool and integers.
AMBIT_BINARY(bitwise_or)
/// Compute self ^ other, bit by bit; of bool "either". bool and integers.
AMBIT_BINARY(bitwise_xor)
#undef AMBIT_BINARY
#define AMBIT_BINARY(name)                                        \
  AMBIT_API Tensor name(const Tensor& self, const Tensor& other); \
  AMBIT_API const Tensor& name##_(const Tensor& self, const Tensor& other);
/// Return whether both are not 0, as bool; any dtype.
AMBIT_BINARY(logical_and)
/// Return whether one or both are not 0, as bool; any dtype.
AMBIT_BINARY(logical_or)
/// Return whether just one is not 0, as bool; any dtype.
AMBIT_BINARY(logical_xor)
/// Compute the angle of the point (other, self) in radians, in [-pi, pi]; integers give floats.
AMBIT_BINARY(atan2)
#undef AMBIT_BINARY
/// Divide and round. rounding_mode: nullptr (true division), "floor" or "trunc". Errors: also Error
/// for another text, and as floor_divide. Gradient: 0 where it rounds.
AMBIT_API Tensor div(const Tensor& self, const Tensor& other, const char* rounding_mode);
/// Compute the number self to the powers of exponent [*sizes] -> [*sizes]. Gradient: exponent.
AMBIT_API Tensor pow(const Scalar& self, const Tensor& exponent);
/// Take the larger of each two; NaN wins. Gradient: of the one taken, halved between equals.
AMBIT_API Tensor maximum(const Tensor& self, const Tensor& other);
/// Take the smaller of each two; NaN wins. Gradient: of the one taken, halved between equals.
AMBIT_API Tensor minimum(const Tensor& self, const Tensor& other);

// The unary maps are the rows of AMBIT_UNARY_MAPS in function_table.h, which says what each
// computes:
//   Tensor name(const Tensor& self);           exp(x)
//   const Tensor& name_(const Tensor& self);   exp_(x), in place
// Those of floats (kFloating) make floats of integers and bool, but floor, ceil, round and trunc,
// which leave integers as they are; bitwise_not takes bool and integers only, neg, abs, relu no
// bool.
#define AMBIT_MAP(name, ...)                 \
  AMBIT_API Tensor name(const Tensor& self); \
  AMBIT_API const Tensor& name##_(const Tensor& self);
AMBIT_UNARY_MAPS(AMBIT_MAP)
#undef AMBIT_MAP
/// Compute x * Phi(x), Phi the normal distribution function. Floating point only.
/// Source: Hendrycks & Gimpel 2016, arXiv:1606.08415.
AMBIT_API Tensor gelu(const Tensor& self);
/// Return which elements are NaN, as bool; any dtype. No gradient.
AMBIT_API Tensor isnan(const Tensor& self);
/// Return which elements are infinite, as bool; any dtype. No gradient.
AMBIT_API Tensor isinf(const Tensor& self);
/// Return which elements are neither infinite nor NaN, as bool; any dtype. No gradient.
AMBIT_API Tensor isfinite(const Tensor& self);
/// Limit to [min, max]; either may be left out, not both. Errors: also Error for neither,
/// DTypeError for a bound that does not fit. Gradient: 1 inside, the borders too, else 0.
AMBIT_API Tensor clamp(const Tensor& self, std::optional<Scalar> min,
                       std::optional<Scalar> max = {});
AMBIT_API const Tensor& clamp_(const Tensor& self, std::optional<Scalar> min,
                               std::optional<Scalar> max = {});
/// Choose condition ? self : other, element by element; condition bool. The three broadcast.
/// Gradient: self, other, each where it was chosen.
AMBIT_API Tensor where(const Tensor& condition, const Tensor& self, const Tensor& other);
AMBIT_API Tensor where(const Tensor& condition, const Tensor& self, const Scalar& other);
AMBIT_API Tensor where(const Tensor& condition, const Scalar& self, const Tensor& other);
/// Return self with `value` where mask (bool, broadcasting with it) is true. Gradient: self, where
/// it is not.
AMBIT_API Tensor masked_fill(const Tensor& self, const Tensor& mask, const Scalar& value);
AMBIT_API const Tensor& masked_fill_(const Tensor& self, const Tensor& mask, const Scalar& value);
/// Set every element to `value`, converted. Return self.
AMBIT_API const Tensor& fill_(const Tensor& self, const Scalar& value);
/// Copy src, which broadcasts to self's sizes, into self, converting and across devices.
/// non_blocking: copies between a device and pinned memory may go on beside other work. Return
/// self. Gradient: src.
AMBIT_API const Tensor& copy_(const Tensor& self, const Tensor& src, bool non_blocking = false);
/// Return whether shapes and all elements are equal.
AMBIT_API bool equal(const Tensor& self, const Tensor& other);
/// Return whether |self - other| <= atol + rtol |other| everywhere; equal_nan: NaN is close to NaN.
AMBIT_API bool allclose(const Tensor& self, const Tensor& other, double rtol = 1e-5,
                        double atol = 1e-8, bool equal_nan = false);
/// Return where |self - other| <= atol + rtol |other|, as bool. Equal infinities are close.
AMBIT_API Tensor isclose(const Tensor& self, const Tensor& other, double rtol = 1e-5,
                         double atol = 1e-8, bool equal_nan = false);
/// Return the dtype that `self op other` computes in. Source: torch.result_type.
AMBIT_API DType result_type(const Tensor& self, const Tensor& other);
AMBIT_API DType result_type(const Tensor& self, const Scalar& other);

#define AMBIT_OPERATOR(sign, name)                                                     \
  inline Tensor operator sign(const Tensor& a, const Tensor& b) { return name(a, b); } \
  inline Tensor operator sign(const Tensor& a, const Scalar& b) { return name(a, b); }
AMBIT_OPERATOR(+, add)
AMBIT_OPERATOR(-, sub)
AMBIT_OPERATOR(*, mul)
AMBIT_OPERATOR(/, div)
AMBIT_OPERATOR(%, remainder)
AMBIT_OPERATOR(==, eq)
AMBIT_OPERATOR(!=, ne)
AMBIT_OPERATOR(<, lt)
AMBIT_OPERATOR(<=, le)
AMBIT_OPERATOR(>, gt)
AMBIT_OPERATOR(>=, ge)
AMBIT_OPERATOR(&, bitwise_and)
AMBIT_OPERATOR(|, bitwise_or)
AMBIT_OPERATOR(^, bitwise_xor)
#undef AMBIT_OPERATOR
inline Tensor operator+(const Scalar& a, const Tensor& b) { return add(b, a); }
inline Tensor operator-(const Scalar& a, const Tensor& b) { return rsub(b, a); }
inline Tensor operator*(const Scalar& a, const Tensor& b) { return mul(b, a); }
inline Tensor operator/(const Scalar& a, const Tensor& b) { return mul(reciprocal(b), a); }

}  // namespace ambit
