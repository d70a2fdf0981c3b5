// Ops that treat each element alone. Operands broadcast; dtypes promote as in libtorch (tensor
// before 0-dim tensor before Scalar); 0-dim cpu tensors mix with any device. Errors of all:
// DeviceMismatchError, ShapeError (no common shape), DTypeError. In place (`name_`) the result must
// fit self's shape and dtype. Gradients: every floating-point operand, where one exists.
#pragma once

#include <ambit/function_table.h>
#include <ambit/tensor.h>

#include <optional>
#include <string_view>

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
/// The same of other - alpha self.
AMBIT_API Tensor rsub(const Tensor& self, const Scalar& other, const Scalar& alpha);
AMBIT_API Tensor rsub(const Tensor& self, const Tensor& other, const Scalar& alpha = 1);

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
/// Compute self * 2^other, wrapping around; 0 for other < 0 or beyond the bits. Integers only.
AMBIT_BINARY(bitwise_left_shift)
/// Compute self / 2^other rounded down; for other < 0 or beyond the bits 0, of negative self -1.
/// Integers only.
AMBIT_BINARY(bitwise_right_shift)
/// Return |self| with the sign of other, of -0. too; integers and bool give floats. Gradient: self.
AMBIT_BINARY(copysign)
/// Compute self * log(other), 0 where self is 0 and other is not NaN; integers and bool give
/// floats.
AMBIT_BINARY(xlogy)
/// Compute self to the power of other in float64, whatever the dtypes; in place self is float64.
AMBIT_BINARY(float_power)
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
/// Compute sqrt(self^2 + other^2) without overflow on the way. Floating point only.
AMBIT_BINARY(hypot)
/// Return the number after self on the way to other; other where they are equal. Floating point
/// only. No gradient.
AMBIT_BINARY(nextafter)
/// Return 0 where self < 0 or NaN, 1 where self > 0, other where self is 0. Errors: also DTypeError
/// where the dtypes differ. No gradient.
AMBIT_BINARY(heaviside)
/// Compute self * 2^other; integers give floats.
AMBIT_BINARY(ldexp)
/// Compute the greatest common divisor, not negative; 0 of two zeros. Integers only.
AMBIT_BINARY(gcd)
/// Compute the least common multiple, not negative, wrapping around; 0 where one is 0. Integers
/// only.
AMBIT_BINARY(lcm)
#undef AMBIT_BINARY
/// Divide and round. rounding_mode: nullopt (true division), "floor" or "trunc". Errors: also Error
/// for another text, and as floor_divide. Gradient: 0 where it rounds.
AMBIT_API Tensor div(const Tensor& self, const Tensor& other,
                     std::optional<std::string_view> rounding_mode);
AMBIT_API Tensor div(const Tensor& self, const Scalar& other,
                     std::optional<std::string_view> rounding_mode);
AMBIT_API const Tensor& div_(const Tensor& self, const Tensor& other,
                             std::optional<std::string_view> rounding_mode);
AMBIT_API const Tensor& div_(const Tensor& self, const Scalar& other,
                             std::optional<std::string_view> rounding_mode);
/// Compute the number self to the powers of exponent [*sizes] -> [*sizes]. Gradient: exponent.
AMBIT_API Tensor pow(const Scalar& self, const Tensor& exponent);
// With a number on the left, as between tensors.
AMBIT_API Tensor float_power(const Scalar& self, const Tensor& exponent);
AMBIT_API Tensor xlogy(const Scalar& self, const Tensor& other);
AMBIT_API Tensor remainder(const Scalar& self, const Tensor& other);
AMBIT_API Tensor bitwise_and(const Scalar& self, const Tensor& other);
AMBIT_API Tensor bitwise_or(const Scalar& self, const Tensor& other);
AMBIT_API Tensor bitwise_xor(const Scalar& self, const Tensor& other);
AMBIT_API Tensor bitwise_left_shift(const Scalar& self, const Tensor& other);
AMBIT_API Tensor bitwise_right_shift(const Scalar& self, const Tensor& other);
/// Take the larger of each two; of a NaN and a number the number. Gradient: of the one taken, self
/// where both are equal.
AMBIT_API Tensor fmax(const Tensor& self, const Tensor& other);
/// Take the smaller of each two, as fmax the larger.
AMBIT_API Tensor fmin(const Tensor& self, const Tensor& other);
/// Compute log(exp(self) + exp(other)) without overflow. Floating point only.
AMBIT_API Tensor logaddexp(const Tensor& self, const Tensor& other);
/// Compute log2(2^self + 2^other) without overflow. Floating point only.
AMBIT_API Tensor logaddexp2(const Tensor& self, const Tensor& other);
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
/// The same for approximate "none"; for "tanh" nearly that:
///   x / 2 (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3)))
/// Errors: Error for another name. Source: as gelu.
AMBIT_API Tensor gelu(const Tensor& self, std::string_view approximate);
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
/// Limit each element by those of min and max, which broadcast with it; where min > max, max it is.
/// Gradient: self where it is inside, borders too; min, max where they are taken.
AMBIT_API Tensor clamp(const Tensor& self, const std::optional<Tensor>& min,
                       const std::optional<Tensor>& max = {});
AMBIT_API const Tensor& clamp_(const Tensor& self, const std::optional<Tensor>& min,
                               const std::optional<Tensor>& max = {});
/// Limit from below: clamp(self, min).
AMBIT_API Tensor clamp_min(const Tensor& self, const Scalar& min);
AMBIT_API Tensor clamp_min(const Tensor& self, const Tensor& min);
AMBIT_API const Tensor& clamp_min_(const Tensor& self, const Scalar& min);
AMBIT_API const Tensor& clamp_min_(const Tensor& self, const Tensor& min);
/// Limit from above: clamp(self, {}, max).
AMBIT_API Tensor clamp_max(const Tensor& self, const Scalar& max);
AMBIT_API Tensor clamp_max(const Tensor& self, const Tensor& max);
AMBIT_API const Tensor& clamp_max_(const Tensor& self, const Scalar& max);
AMBIT_API const Tensor& clamp_max_(const Tensor& self, const Tensor& max);
/// Compute self + value * tensor1 * tensor2. Of integers value loses its fraction.
AMBIT_API Tensor addcmul(const Tensor& self, const Tensor& tensor1, const Tensor& tensor2,
                         const Scalar& value = 1);
AMBIT_API const Tensor& addcmul_(const Tensor& self, const Tensor& tensor1, const Tensor& tensor2,
                                 const Scalar& value = 1);
/// Compute self + value * tensor1 / tensor2. Errors: also DTypeError where both are integers.
AMBIT_API Tensor addcdiv(const Tensor& self, const Tensor& tensor1, const Tensor& tensor2,
                         const Scalar& value = 1);
AMBIT_API const Tensor& addcdiv_(const Tensor& self, const Tensor& tensor1, const Tensor& tensor2,
                                 const Scalar& value = 1);
/// Go from self to end: self + weight (end - self); exact at both ends. Floating point only.
/// Errors: also DTypeError where the dtypes differ.
AMBIT_API Tensor lerp(const Tensor& self, const Tensor& end, const Scalar& weight);
AMBIT_API Tensor lerp(const Tensor& self, const Tensor& end, const Tensor& weight);
AMBIT_API const Tensor& lerp_(const Tensor& self, const Tensor& end, const Scalar& weight);
AMBIT_API const Tensor& lerp_(const Tensor& self, const Tensor& end, const Tensor& weight);
/// Round to so many decimals, negative ones before the point; halves to even. Floating point only.
/// Gradient: 0.
AMBIT_API Tensor round(const Tensor& self, int64_t decimals);
AMBIT_API const Tensor& round_(const Tensor& self, int64_t decimals);
/// Replace NaN by nan, infinities by posinf and neginf, or where these are left out by the largest
/// and smallest finite numbers of the dtype. Integers and bool are as they are. Gradient: self, 0
/// where it is replaced.
AMBIT_API Tensor nan_to_num(const Tensor& self, std::optional<double> nan = {},
                            std::optional<double> posinf = {}, std::optional<double> neginf = {});
AMBIT_API const Tensor& nan_to_num_(const Tensor& self, std::optional<double> nan = {},
                                    std::optional<double> posinf = {},
                                    std::optional<double> neginf = {});
/// Return which elements are below 0, as bool, -0. and -NaN too; any dtype. No gradient.
AMBIT_API Tensor signbit(const Tensor& self);
/// Return which elements are infinite and positive, as bool; any dtype. No gradient.
AMBIT_API Tensor isposinf(const Tensor& self);
/// Return which elements are infinite and negative, as bool; any dtype. No gradient.
AMBIT_API Tensor isneginf(const Tensor& self);
/// Return true for each element: there are no complex numbers here. No gradient.
AMBIT_API Tensor isreal(const Tensor& self);
/// Return self itself. Errors: DTypeError for bool.
AMBIT_API Tensor positive(const Tensor& self);
/// Choose condition ? self : other, element by element; condition bool. The three broadcast.
/// Gradient: self, other, each where it was chosen.
AMBIT_API Tensor where(const Tensor& condition, const Tensor& self, const Tensor& other);
AMBIT_API Tensor where(const Tensor& condition, const Tensor& self, const Scalar& other);
AMBIT_API Tensor where(const Tensor& condition, const Scalar& self, const Tensor& other);
AMBIT_API Tensor where(const Tensor& condition, const Scalar& self, const Scalar& other);
/// Return self with `value` where mask (bool, broadcasting with it) is true. Gradient: self, where
/// it is not.
AMBIT_API Tensor masked_fill(const Tensor& self, const Tensor& mask, const Scalar& value);
AMBIT_API const Tensor& masked_fill_(const Tensor& self, const Tensor& mask, const Scalar& value);
/// The same with a tensor without dims as the number, converted to self's dtype. Errors also:
/// ShapeError for one with dims. Gradient: value, too.
AMBIT_API Tensor masked_fill(const Tensor& self, const Tensor& mask, const Tensor& value);
AMBIT_API const Tensor& masked_fill_(const Tensor& self, const Tensor& mask, const Tensor& value);
/// Set every element to `value`, converted; a number, or a tensor without dims on any device (else
/// ShapeError). Return self. Gradient: value where it is a tensor.
AMBIT_API const Tensor& fill_(const Tensor& self, const Scalar& value);
AMBIT_API const Tensor& fill_(const Tensor& self, const Tensor& value);
AMBIT_API const Tensor& zero_(const Tensor& self);
/// The same into a copy of self's sizes and dtype. Gradient: 0 of self; value.
AMBIT_API Tensor fill(const Tensor& self, const Scalar& value);
AMBIT_API Tensor fill(const Tensor& self, const Tensor& value);
AMBIT_API Tensor zero(const Tensor& self);
/// Copy src, which broadcasts to self's sizes, into self, converting and across devices.
/// non_blocking: copies between a device and pinned memory may go on beside other work. Return
/// self. Gradient: src.
AMBIT_API const Tensor& copy_(const Tensor& self, const Tensor& src, bool non_blocking = false);
/// Return whether shapes and all elements are equal.
AMBIT_API bool equal(const Tensor& self, const Tensor& other);
/// Return whether |self - other| <= atol + rtol |other| everywhere; equal_nan: NaN is close to NaN.
AMBIT_API bool allclose(const Tensor& self, const Tensor& other, double rtol = 1e-5,
                        double atol = 1e-8, bool equal_nan = false);
/// Return where |self - other| <= atol + rtol |other|, as bool. Equal infinities are close. No
/// gradient.
AMBIT_API Tensor isclose(const Tensor& self, const Tensor& other, double rtol = 1e-5,
                         double atol = 1e-8, bool equal_nan = false);
/// Return the dtype that `self op other` computes in. Source: torch.result_type.
AMBIT_API DType result_type(const Tensor& self, const Tensor& other);
AMBIT_API DType result_type(const Tensor& self, const Scalar& other);
AMBIT_API DType result_type(const Scalar& self, const Tensor& other);
AMBIT_API DType result_type(const Scalar& self, const Scalar& other);
/// Return whether an in-place op may round its result so: not floats to integers, nor numbers to
/// bool.
AMBIT_API bool can_cast(DType from, DType to);
/// Compute the angle of real numbers on the complex plane: 0, or pi of negative ones; NaN stays.
/// Integers and bool give floats. Gradient: 0.
AMBIT_API Tensor angle(const Tensor& self);
/// Return self, which has no imaginary part.
AMBIT_API Tensor real(const Tensor& self);

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

}  // namespace ambit
