// Ops that treat each element alone. Operands broadcast; dtypes promote as in libtorch (tensor
// before 0-dim tensor before Scalar); 0-dim cpu tensors mix with any device. Errors of all:
// DeviceMismatchError, ShapeError (no common shape), DTypeError. In place (`name_`) the result must
// fit self's shape and dtype. Gradients: every floating-point operand, where one exists.
#pragma once

#include <ambit/function_table.h>
#include <ambit/tensor.h>

namespace ambit {

/// self + alpha * other. bool + bool is "or".
AMBIT_API Tensor add(const Tensor& self, const Tensor& other, const Scalar& alpha = 1);
AMBIT_API Tensor add(const Tensor& self, const Scalar& other, const Scalar& alpha = 1);
AMBIT_API const Tensor& add_(const Tensor& self, const Tensor& other, const Scalar& alpha = 1);
AMBIT_API const Tensor& add_(const Tensor& self, const Scalar& other, const Scalar& alpha = 1);
/// self - alpha * other. Not for bool.
AMBIT_API Tensor sub(const Tensor& self, const Tensor& other, const Scalar& alpha = 1);
AMBIT_API Tensor sub(const Tensor& self, const Scalar& other, const Scalar& alpha = 1);
AMBIT_API Tensor rsub(const Tensor& self, const Scalar& other);  ///< other - self
AMBIT_API const Tensor& sub_(const Tensor& self, const Tensor& other, const Scalar& alpha = 1);
AMBIT_API const Tensor& sub_(const Tensor& self, const Scalar& other, const Scalar& alpha = 1);

#define AMBIT_BINARY(name)                                                  \
  AMBIT_API Tensor name(const Tensor& self, const Tensor& other);           \
  AMBIT_API Tensor name(const Tensor& self, const Scalar& other);           \
  AMBIT_API const Tensor& name##_(const Tensor& self, const Tensor& other); \
  AMBIT_API const Tensor& name##_(const Tensor& self, const Scalar& other);
AMBIT_BINARY(mul)
AMBIT_BINARY(div)           ///< true division: integers give floats
AMBIT_BINARY(floor_divide)  ///< rounded to minus infinity; integer division by zero throws Error
AMBIT_BINARY(remainder)  ///< self - other * floor(self / other): the sign of other, as Python's %
AMBIT_BINARY(fmod)       ///< self - other * trunc(self / other): the sign of self, as C's fmod
AMBIT_BINARY(pow)        ///< integers to a negative integer Scalar power throw Error
AMBIT_BINARY(eq)         ///< comparisons give bool and have no gradient
AMBIT_BINARY(ne)
AMBIT_BINARY(lt)
AMBIT_BINARY(le)
AMBIT_BINARY(gt)
AMBIT_BINARY(ge)
AMBIT_BINARY(bitwise_and)  ///< bool and integers
AMBIT_BINARY(bitwise_or)
AMBIT_BINARY(bitwise_xor)
#undef AMBIT_BINARY
#define AMBIT_BINARY(name)                                        \
  AMBIT_API Tensor name(const Tensor& self, const Tensor& other); \
  AMBIT_API const Tensor& name##_(const Tensor& self, const Tensor& other);
AMBIT_BINARY(logical_and)  ///< any dtype, by truth; give bool
AMBIT_BINARY(logical_or)
AMBIT_BINARY(logical_xor)
AMBIT_BINARY(atan2)  ///< angle of the point (other, self) in radians
#undef AMBIT_BINARY
/// rounding_mode: nullptr (true division), "floor" or "trunc". Errors: Error for another text.
AMBIT_API Tensor div(const Tensor& self, const Tensor& other, const char* rounding_mode);
AMBIT_API Tensor pow(const Scalar& self, const Tensor& exponent);
/// The larger (smaller) of each two; NaN wins. Gradient: halved between equals.
AMBIT_API Tensor maximum(const Tensor& self, const Tensor& other);
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
/// x * Phi(x), Phi the normal distribution function. Source: Hendrycks & Gimpel 2016,
/// arXiv:1606.08415.
AMBIT_API Tensor gelu(const Tensor& self);
AMBIT_API Tensor isnan(const Tensor& self);
AMBIT_API Tensor isinf(const Tensor& self);
AMBIT_API Tensor isfinite(const Tensor& self);
/// Limit to [min, max]; either may be left out, not both. Gradient: 1 inside, the borders too.
AMBIT_API Tensor clamp(const Tensor& self, std::optional<Scalar> min,
                       std::optional<Scalar> max = {});
AMBIT_API const Tensor& clamp_(const Tensor& self, std::optional<Scalar> min,
                               std::optional<Scalar> max = {});
/// condition ? self : other, condition bool. Gradient: self, other.
AMBIT_API Tensor where(const Tensor& condition, const Tensor& self, const Tensor& other);
AMBIT_API Tensor where(const Tensor& condition, const Tensor& self, const Scalar& other);
AMBIT_API Tensor where(const Tensor& condition, const Scalar& self, const Tensor& other);
/// Replace self where mask (bool, broadcasting) is true.
AMBIT_API Tensor masked_fill(const Tensor& self, const Tensor& mask, const Scalar& value);
AMBIT_API const Tensor& masked_fill_(const Tensor& self, const Tensor& mask, const Scalar& value);
AMBIT_API const Tensor& fill_(const Tensor& self, const Scalar& value);
/// Copy src into self, broadcasting, converting and across devices. Gradient: src.
AMBIT_API const Tensor& copy_(const Tensor& self, const Tensor& src, bool non_blocking = false);
/// Return whether shapes and all elements are equal.
AMBIT_API bool equal(const Tensor& self, const Tensor& other);
/// Return whether |self - other| <= atol + rtol |other| everywhere.
AMBIT_API bool allclose(const Tensor& self, const Tensor& other, double rtol = 1e-5,
                        double atol = 1e-8, bool equal_nan = false);
/// The same as a bool tensor. Equal infinities are close.
AMBIT_API Tensor isclose(const Tensor& self, const Tensor& other, double rtol = 1e-5,
                         double atol = 1e-8, bool equal_nan = false);
/// The dtype that `self op other` computes in.
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
