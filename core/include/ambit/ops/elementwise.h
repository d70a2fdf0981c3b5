// Elementwise ops. Operands broadcast; dtypes promote as in libtorch (tensor before 0-dim tensor
// before Scalar); 0-dim cpu tensors may be combined with any device. Errors of all:
// DeviceMismatchError, ShapeError (shapes that do not broadcast), DTypeError. In place (`name_`),
// the result must fit self's shape and dtype. Gradients: every floating-point operand, where one
// exists.
#pragma once

#include <ambit/function_table.h>
#include <ambit/tensor.h>

#include <optional>
#include <string_view>

namespace ambit {

// Every name(self, other) has a variant name_(self, other) that writes into self and returns it.

/// Compute self + alpha * other; "or" for bool. alpha must be of self's category or a lower one.
/// @{
AMBIT_API Tensor add(const Tensor& self, const Tensor& other, const Scalar& alpha = 1);
AMBIT_API Tensor add(const Tensor& self, const Scalar& other, const Scalar& alpha = 1);
AMBIT_API const Tensor& add_(const Tensor& self, const Tensor& other, const Scalar& alpha = 1);
AMBIT_API const Tensor& add_(const Tensor& self, const Scalar& other, const Scalar& alpha = 1);
/// @}
/// Compute self - alpha * other. Errors: also DTypeError for bool.
/// @{
AMBIT_API Tensor sub(const Tensor& self, const Tensor& other, const Scalar& alpha = 1);
AMBIT_API Tensor sub(const Tensor& self, const Scalar& other, const Scalar& alpha = 1);
AMBIT_API const Tensor& sub_(const Tensor& self, const Tensor& other, const Scalar& alpha = 1);
AMBIT_API const Tensor& sub_(const Tensor& self, const Scalar& other, const Scalar& alpha = 1);
/// @}
/// Compute other - self. Errors: also DTypeError for bool.
AMBIT_API Tensor rsub(const Tensor& self, const Scalar& other);
/// Compute other - alpha * self.
/// @{
AMBIT_API Tensor rsub(const Tensor& self, const Scalar& other, const Scalar& alpha);
AMBIT_API Tensor rsub(const Tensor& self, const Tensor& other, const Scalar& alpha = 1);
/// @}

#define AMBIT_BINARY(name)                                                  \
  AMBIT_API Tensor name(const Tensor& self, const Tensor& other);           \
  /** Same as name with a number. */                                        \
  AMBIT_API Tensor name(const Tensor& self, const Scalar& other);           \
  /** Write the result of name into self and return self. */                \
  AMBIT_API const Tensor& name##_(const Tensor& self, const Tensor& other); \
  /** Write the result of name with a number into self and return self. */  \
  AMBIT_API const Tensor& name##_(const Tensor& self, const Scalar& other);
/// Compute self * other; "and" for bool. Integers wrap around.
AMBIT_BINARY(mul)
/// Compute self / other; integers and bool give floats.
AMBIT_BINARY(div)
/// Compute self / other rounded down, like Python's //. Errors: also Error for integers divided by
/// 0, and for the smallest integer divided by -1. Gradient: 0.
AMBIT_BINARY(floor_divide)
/// Compute self - other * floor(self / other), with the sign of other, like Python's %. Errors:
/// also Error for integers divided by 0.
AMBIT_BINARY(remainder)
/// Compute self - other * trunc(self / other), with self's sign, like C's fmod. Errors: as
/// remainder.
AMBIT_BINARY(fmod)
/// Compute self to the power of other; integers wrap around. Errors: also Error for integers to the
/// power of a negative integer Scalar.
AMBIT_BINARY(pow)
// Comparisons give bool and have no gradient; comparisons with NaN are false, except ne.
/// Compute self == other, elementwise.
AMBIT_BINARY(eq)
/// Compute self != other, elementwise; true for NaN.
AMBIT_BINARY(ne)
/// Compute self < other, elementwise.
AMBIT_BINARY(lt)
/// Compute self <= other, elementwise.
AMBIT_BINARY(le)
/// Compute self > other, elementwise.
AMBIT_BINARY(gt)
/// Compute self >= other, elementwise.
AMBIT_BINARY(ge)
/// Compute self & other, bitwise; "and" for bool. bool and integers.
AMBIT_BINARY(bitwise_and)
/// Compute self | other, bitwise; "or" for bool. bool and integers.
AMBIT_BINARY(bitwise_or)
/// Compute self ^ other, bitwise; "xor" for bool. bool and integers.
AMBIT_BINARY(bitwise_xor)
/// Compute self * 2^other, wrapping around; 0 for other < 0 or >= the number of bits. Integers
/// only.
AMBIT_BINARY(bitwise_left_shift)
/// Compute self / 2^other rounded down; for other < 0 or >= the number of bits 0, or -1 for
/// negative self. Integers only.
AMBIT_BINARY(bitwise_right_shift)
/// Return |self| with the sign of other, even -0.; integers and bool give floats. Gradient: self.
AMBIT_BINARY(copysign)
/// Compute self * log(other); 0 if self is 0 and other not NaN. Integers and bool give floats.
AMBIT_BINARY(xlogy)
/// Compute self to the power of other in float64 for all dtypes; in place self must be float64.
AMBIT_BINARY(float_power)
#undef AMBIT_BINARY
#define AMBIT_BINARY(name)                                        \
  AMBIT_API Tensor name(const Tensor& self, const Tensor& other); \
  /** Write the result of name into self and return self. */      \
  AMBIT_API const Tensor& name##_(const Tensor& self, const Tensor& other);
/// Return true where both are not 0, as bool; any dtype.
AMBIT_BINARY(logical_and)
/// Return true where one or both are not 0, as bool; any dtype.
AMBIT_BINARY(logical_or)
/// Return true where exactly one is not 0, as bool; any dtype.
AMBIT_BINARY(logical_xor)
/// Compute the angle of the point (other, self) in radians, in [-pi, pi]; integers give floats.
AMBIT_BINARY(atan2)
/// Compute sqrt(self^2 + other^2) without intermediate overflow. Floating point only.
AMBIT_BINARY(hypot)
/// Return the next number after self towards other; other if they are equal. Floating point only.
/// No gradient.
AMBIT_BINARY(nextafter)
/// Return 0 where self < 0 or NaN, 1 where self > 0, other where self is 0. Errors: also DTypeError
/// if the dtypes differ. No gradient.
AMBIT_BINARY(heaviside)
/// Compute self * 2^other; integers give floats.
AMBIT_BINARY(ldexp)
/// Compute the greatest common divisor, >= 0; 0 for two zeros. Integers only.
AMBIT_BINARY(gcd)
/// Compute the least common multiple, >= 0, wrapping around; 0 if one is 0. Integers only.
AMBIT_BINARY(lcm)
#undef AMBIT_BINARY
/// Divide and round. rounding_mode: nullopt (true division), "floor" or "trunc". Errors: also Error
/// for any other string, and as floor_divide. Gradient: 0 if rounded.
/// @{
AMBIT_API Tensor div(const Tensor& self, const Tensor& other,
                     std::optional<std::string_view> rounding_mode);
AMBIT_API Tensor div(const Tensor& self, const Scalar& other,
                     std::optional<std::string_view> rounding_mode);
AMBIT_API const Tensor& div_(const Tensor& self, const Tensor& other,
                             std::optional<std::string_view> rounding_mode);
AMBIT_API const Tensor& div_(const Tensor& self, const Scalar& other,
                             std::optional<std::string_view> rounding_mode);
/// @}
/// Compute the number self to the powers `exponent`. Gradient: exponent.
AMBIT_API Tensor pow(const Scalar& self, const Tensor& exponent);
/// The function of the same name for two tensors, with a number on the left.
/// @{
AMBIT_API Tensor float_power(const Scalar& self, const Tensor& exponent);
AMBIT_API Tensor xlogy(const Scalar& self, const Tensor& other);
AMBIT_API Tensor remainder(const Scalar& self, const Tensor& other);
AMBIT_API Tensor bitwise_and(const Scalar& self, const Tensor& other);
AMBIT_API Tensor bitwise_or(const Scalar& self, const Tensor& other);
AMBIT_API Tensor bitwise_xor(const Scalar& self, const Tensor& other);
AMBIT_API Tensor bitwise_left_shift(const Scalar& self, const Tensor& other);
AMBIT_API Tensor bitwise_right_shift(const Scalar& self, const Tensor& other);
/// @}
/// Compute the elementwise maximum; a number is preferred to NaN. Gradient: to the selected
/// operand, to self if both are equal.
AMBIT_API Tensor fmax(const Tensor& self, const Tensor& other);
/// Compute the elementwise minimum, like fmax.
AMBIT_API Tensor fmin(const Tensor& self, const Tensor& other);
/// Compute log(exp(self) + exp(other)) without overflow. Floating point only.
AMBIT_API Tensor logaddexp(const Tensor& self, const Tensor& other);
/// Compute log2(2^self + 2^other) without overflow. Floating point only.
AMBIT_API Tensor logaddexp2(const Tensor& self, const Tensor& other);
/// Compute the elementwise maximum; NaN propagates. Gradient: to the selected, halved if equal.
AMBIT_API Tensor maximum(const Tensor& self, const Tensor& other);
/// Compute the elementwise minimum; NaN propagates. Gradient: to the selected, halved if equal.
AMBIT_API Tensor minimum(const Tensor& self, const Tensor& other);

// The unary maps are the rows of AMBIT_UNARY_MAPS in function_table.h, with their formulas:
//   Tensor name(const Tensor& self);           exp(x)
//   const Tensor& name_(const Tensor& self);   exp_(x), in place
// Maps of floats (kFloating) convert integers and bool to floats, except floor, ceil, round and
// trunc, which return integers unchanged; bitwise_not accepts only bool and integers; neg, abs and
// relu do not accept bool.
#define AMBIT_MAP(name, ...)                                 \
  /** Write the result of name into self and return self. */ \
  AMBIT_API const Tensor& name##_(const Tensor& self);       \
  AMBIT_API Tensor name(const Tensor& self);
AMBIT_UNARY_MAPS(AMBIT_MAP)
#undef AMBIT_MAP
/// Compute x * Phi(x), Phi the standard normal distribution function. Floating point only.
/// Source: Hendrycks & Gimpel 2016, arXiv:1606.08415.
AMBIT_API Tensor gelu(const Tensor& self);
/// approximate "none": the same; "tanh": the approximation
///   x / 2 (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3)))
/// Errors: Error for any other name. Source: as gelu.
AMBIT_API Tensor gelu(const Tensor& self, std::string_view approximate);
/// Return true where self is NaN, as bool; any dtype. No gradient.
AMBIT_API Tensor isnan(const Tensor& self);
/// Return true where self is infinite, as bool; any dtype. No gradient.
AMBIT_API Tensor isinf(const Tensor& self);
/// Return true where self is neither infinite nor NaN, as bool; any dtype. No gradient.
AMBIT_API Tensor isfinite(const Tensor& self);
/// Limit to [min, max]; one of them may be omitted. Errors: also Error if both are, DTypeError for
/// a bound that does not fit. Gradient: 1 inside and at the bounds, else 0.
/// @{
AMBIT_API Tensor clamp(const Tensor& self, std::optional<Scalar> min,
                       std::optional<Scalar> max = {});
AMBIT_API const Tensor& clamp_(const Tensor& self, std::optional<Scalar> min,
                               std::optional<Scalar> max = {});
/// @}
/// Limit each element by those of min and max, which broadcast with it; if min > max the result is
/// max. Gradient: self inside and at the bounds; min, max where they are selected.
/// @{
AMBIT_API Tensor clamp(const Tensor& self, const std::optional<Tensor>& min,
                       const std::optional<Tensor>& max = {});
AMBIT_API const Tensor& clamp_(const Tensor& self, const std::optional<Tensor>& min,
                               const std::optional<Tensor>& max = {});
/// @}
/// Same as clamp(self, min).
/// @{
AMBIT_API Tensor clamp_min(const Tensor& self, const Scalar& min);
AMBIT_API Tensor clamp_min(const Tensor& self, const Tensor& min);
AMBIT_API const Tensor& clamp_min_(const Tensor& self, const Scalar& min);
AMBIT_API const Tensor& clamp_min_(const Tensor& self, const Tensor& min);
/// @}
/// Same as clamp(self, {}, max).
/// @{
AMBIT_API Tensor clamp_max(const Tensor& self, const Scalar& max);
AMBIT_API Tensor clamp_max(const Tensor& self, const Tensor& max);
AMBIT_API const Tensor& clamp_max_(const Tensor& self, const Scalar& max);
AMBIT_API const Tensor& clamp_max_(const Tensor& self, const Tensor& max);
/// @}
/// Compute self + value * tensor1 * tensor2. For integers, value is truncated.
/// @{
AMBIT_API Tensor addcmul(const Tensor& self, const Tensor& tensor1, const Tensor& tensor2,
                         const Scalar& value = 1);
AMBIT_API const Tensor& addcmul_(const Tensor& self, const Tensor& tensor1, const Tensor& tensor2,
                                 const Scalar& value = 1);
/// @}
/// Compute self + value * tensor1 / tensor2. Errors: also DTypeError if both are integers.
/// @{
AMBIT_API Tensor addcdiv(const Tensor& self, const Tensor& tensor1, const Tensor& tensor2,
                         const Scalar& value = 1);
AMBIT_API const Tensor& addcdiv_(const Tensor& self, const Tensor& tensor1, const Tensor& tensor2,
                                 const Scalar& value = 1);
/// @}
/// Compute self + weight (end - self), exact at both ends. Floating point only. Errors: also
/// DTypeError if the dtypes differ.
/// @{
AMBIT_API Tensor lerp(const Tensor& self, const Tensor& end, const Scalar& weight);
AMBIT_API Tensor lerp(const Tensor& self, const Tensor& end, const Tensor& weight);
AMBIT_API const Tensor& lerp_(const Tensor& self, const Tensor& end, const Scalar& weight);
AMBIT_API const Tensor& lerp_(const Tensor& self, const Tensor& end, const Tensor& weight);
/// @}
/// Round to `decimals` decimal places (negative: before the point), ties to even. Floating point
/// only. Gradient: 0.
/// @{
AMBIT_API Tensor round(const Tensor& self, int64_t decimals);
AMBIT_API const Tensor& round_(const Tensor& self, int64_t decimals);
/// @}
/// Replace NaN by nan (default 0) and infinities by posinf and neginf (defaults: the largest and
/// smallest finite numbers of the dtype). Integers and bool are unchanged. Gradient: self, 0 where
/// it is replaced.
/// @{
AMBIT_API Tensor nan_to_num(const Tensor& self, std::optional<double> nan = {},
                            std::optional<double> posinf = {}, std::optional<double> neginf = {});
AMBIT_API const Tensor& nan_to_num_(const Tensor& self, std::optional<double> nan = {},
                                    std::optional<double> posinf = {},
                                    std::optional<double> neginf = {});
/// @}
/// Return true where the sign bit is set, including -0. and -NaN; any dtype. No gradient.
AMBIT_API Tensor signbit(const Tensor& self);
/// Return true where self is positive infinity, as bool; any dtype. No gradient.
AMBIT_API Tensor isposinf(const Tensor& self);
/// Return true where self is negative infinity, as bool; any dtype. No gradient.
AMBIT_API Tensor isneginf(const Tensor& self);
/// Return true where the imaginary part is 0: for each real number. No gradient.
AMBIT_API Tensor isreal(const Tensor& self);
/// Return self. Errors: DTypeError for bool.
AMBIT_API Tensor positive(const Tensor& self);
/// Compute condition ? self : other, elementwise; condition bool. The three broadcast. Gradient:
/// self, other, each where it is selected.
/// @{
AMBIT_API Tensor where(const Tensor& condition, const Tensor& self, const Tensor& other);
AMBIT_API Tensor where(const Tensor& condition, const Tensor& self, const Scalar& other);
AMBIT_API Tensor where(const Tensor& condition, const Scalar& self, const Tensor& other);
AMBIT_API Tensor where(const Tensor& condition, const Scalar& self, const Scalar& other);
/// @}
/// Return self with `value` where mask (bool, broadcasts with self) is true. Gradient: self, where
/// mask is false.
/// @{
AMBIT_API Tensor masked_fill(const Tensor& self, const Tensor& mask, const Scalar& value);
AMBIT_API const Tensor& masked_fill_(const Tensor& self, const Tensor& mask, const Scalar& value);
/// @}
/// As above, with a 0-dim tensor as the value, converted to self's dtype. Errors: also ShapeError
/// for one with dims. Gradient: value, too.
/// @{
AMBIT_API Tensor masked_fill(const Tensor& self, const Tensor& mask, const Tensor& value);
AMBIT_API const Tensor& masked_fill_(const Tensor& self, const Tensor& mask, const Tensor& value);
/// @}
/// Set every element to `value`, a number or a 0-dim tensor on any device (else ShapeError),
/// converted to self's dtype. Return self. Gradient: value if it is a tensor.
/// @{
AMBIT_API const Tensor& fill_(const Tensor& self, const Scalar& value);
AMBIT_API const Tensor& fill_(const Tensor& self, const Tensor& value);
AMBIT_API const Tensor& zero_(const Tensor& self);
/// @}
/// As above, but write into a new tensor of self's sizes and dtype. Gradient: value; 0 for self.
/// @{
AMBIT_API Tensor fill(const Tensor& self, const Scalar& value);
AMBIT_API Tensor fill(const Tensor& self, const Tensor& value);
AMBIT_API Tensor zero(const Tensor& self);
/// @}
/// Copy src, which broadcasts to self's sizes, into self, across dtypes and devices. non_blocking:
/// copies between a device and pinned memory may overlap with other work. Return self. Gradient:
/// src.
AMBIT_API const Tensor& copy_(const Tensor& self, const Tensor& src, bool non_blocking = false);
/// Return true if shapes and all elements are equal.
AMBIT_API bool equal(const Tensor& self, const Tensor& other);
/// Return true if |self - other| <= atol + rtol |other| everywhere; equal_nan: NaN is close to NaN.
AMBIT_API bool allclose(const Tensor& self, const Tensor& other, double rtol = 1e-5,
                        double atol = 1e-8, bool equal_nan = false);
/// Return true where |self - other| <= atol + rtol |other|, as bool. Equal infinities are close. No
/// gradient.
AMBIT_API Tensor isclose(const Tensor& self, const Tensor& other, double rtol = 1e-5,
                         double atol = 1e-8, bool equal_nan = false);
/// Return the dtype that `self op other` computes in. Source: torch.result_type.
/// @{
AMBIT_API DType result_type(const Tensor& self, const Tensor& other);
AMBIT_API DType result_type(const Tensor& self, const Scalar& other);
AMBIT_API DType result_type(const Scalar& self, const Tensor& other);
AMBIT_API DType result_type(const Scalar& self, const Scalar& other);
/// @}
/// True if an in-place op may convert its result: never complex numbers to floats, floats to
/// integers, nor numbers to bool.
AMBIT_API bool can_cast(DType from, DType to);
/// Compute the angle of numbers in the complex plane, in (-pi, pi]; for real ones 0, or pi for
/// negative ones; NaN propagates. Integers and bool give floats, complex numbers the dtype of their
/// parts. Gradient: self; 0 for real numbers and at 0.
AMBIT_API Tensor angle(const Tensor& self);
/// Compute z / |z| of complex numbers, 0 for 0; sign() of real ones. Gradient: self; 0 for real
/// numbers and at 0. Source: torch.sgn.
/// @{
AMBIT_API Tensor sgn(const Tensor& self);
AMBIT_API const Tensor& sgn_(const Tensor& self);
/// @}

#define AMBIT_OPERATOR(sign, name)                                                     \
  /** Return name of two tensors. */                                                   \
  inline Tensor operator sign(const Tensor& a, const Tensor& b) { return name(a, b); } \
  /** Return name of a tensor and a number. */                                         \
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
/// Operators with a number `a` on the left, which is the first operand of the function above.
/// Comparisons exchange the operands: 1 < x is gt(x, 1).
/// @{
inline Tensor operator+(const Scalar& a, const Tensor& b) { return add(b, a); }
inline Tensor operator-(const Scalar& a, const Tensor& b) { return rsub(b, a); }
inline Tensor operator*(const Scalar& a, const Tensor& b) { return mul(b, a); }
AMBIT_API Tensor operator/(const Scalar& a, const Tensor& b);
inline Tensor operator%(const Scalar& a, const Tensor& b) { return remainder(a, b); }
inline Tensor operator&(const Scalar& a, const Tensor& b) { return bitwise_and(b, a); }
inline Tensor operator|(const Scalar& a, const Tensor& b) { return bitwise_or(b, a); }
inline Tensor operator^(const Scalar& a, const Tensor& b) { return bitwise_xor(b, a); }
inline Tensor operator==(const Scalar& a, const Tensor& b) { return eq(b, a); }
inline Tensor operator!=(const Scalar& a, const Tensor& b) { return ne(b, a); }
inline Tensor operator<(const Scalar& a, const Tensor& b) { return gt(b, a); }
inline Tensor operator<=(const Scalar& a, const Tensor& b) { return ge(b, a); }
inline Tensor operator>(const Scalar& a, const Tensor& b) { return lt(b, a); }
inline Tensor operator>=(const Scalar& a, const Tensor& b) { return le(b, a); }
/// @}

}  // namespace ambit
