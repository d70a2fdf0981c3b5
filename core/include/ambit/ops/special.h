// Special functions other than the unary maps (erf, lgamma, digamma, ...) of elementwise.h, which
// documents operands, dtypes and errors; integers and bool give floats.
#pragma once

#include <ambit/tensor.h>

#include <optional>
#include <tuple>

namespace ambit {

/// Compute log(x / (1 - x)), with x limited to [eps, 1 - eps] if eps is given; NaN outside [0, 1].
/// Gradient: self; 0 where it was limited.
/// @{
AMBIT_API Tensor logit(const Tensor& self, std::optional<double> eps = {});
AMBIT_API const Tensor& logit_(const Tensor& self, std::optional<double> eps = {});
/// @}
/// Compute the logarithm of the multivariate gamma function of dimension p:
///   p (p - 1) / 4 log(pi) + sum over j < p of lgamma(self - j / 2)
/// Errors: also Error for p < 1 or above 2^20. Gradient: self.
/// @{
AMBIT_API Tensor mvlgamma(const Tensor& self, int64_t p);
AMBIT_API const Tensor& mvlgamma_(const Tensor& self, int64_t p);
/// @}
/// Compute the n-th derivative of digamma; digamma for n = 0. Errors: also Error for n < 0.
/// Gradient: self.
/// @{
AMBIT_API Tensor polygamma(int64_t n, const Tensor& self);
AMBIT_API const Tensor& polygamma_(const Tensor& self, int64_t n);
/// @}
/// Compute the modified Bessel function of the first kind of order 1; i0() is order 0.
AMBIT_API Tensor special_i1(const Tensor& self);
/// Compute e^-|x| i0(x) without overflow.
AMBIT_API Tensor special_i0e(const Tensor& self);
/// Compute e^-|x| special_i1(x) without overflow.
AMBIT_API Tensor special_i1e(const Tensor& self);
/// Compute e^(x^2) erfc(x), about 1 / (x sqrt(pi)) where erfc(x) underflows.
AMBIT_API Tensor special_erfcx(const Tensor& self);
/// Compute the standard normal distribution function, accurate for small results.
AMBIT_API Tensor special_ndtr(const Tensor& self);
/// Compute the logarithm of special_ndtr, accurate where special_ndtr underflows.
AMBIT_API Tensor special_log_ndtr(const Tensor& self);
/// Compute the inverse of special_ndtr; NaN outside [0, 1].
AMBIT_API Tensor special_ndtri(const Tensor& self);
/// Compute -x log(x): 0 for 0, -inf for negative numbers. Gradient: self, -log(x) - 1.
AMBIT_API Tensor special_entr(const Tensor& self);
/// Compute self log(1 + other); 0 if self is 0 and other not NaN. Gradient: self, other.
/// @{
AMBIT_API Tensor special_xlog1py(const Tensor& self, const Tensor& other);
AMBIT_API Tensor special_xlog1py(const Scalar& self, const Tensor& other);
AMBIT_API Tensor special_xlog1py(const Tensor& self, const Scalar& other);
/// @}
/// Compute the Hurwitz zeta function: sum over k >= 0 of (k + other)^-self; NaN for self < 1.
/// Gradient: other. Errors: also NotImplementedError in a backward to self.
/// @{
AMBIT_API Tensor special_zeta(const Tensor& self, const Tensor& other);
AMBIT_API Tensor special_zeta(const Scalar& self, const Tensor& other);
AMBIT_API Tensor special_zeta(const Tensor& self, const Scalar& other);
/// @}
/// Convert degrees to radians: self * pi / 180.
/// @{
AMBIT_API Tensor deg2rad(const Tensor& self);
AMBIT_API const Tensor& deg2rad_(const Tensor& self);
/// @}
/// Convert radians to degrees: self * 180 / pi.
/// @{
AMBIT_API Tensor rad2deg(const Tensor& self);
AMBIT_API const Tensor& rad2deg_(const Tensor& self);
/// @}

/// Compute the regularised lower incomplete gamma function of a = self and x = other, which
/// broadcast; floating point only:
///   P(a, x) = 1 / Gamma(a) integral from 0 to x of t^(a-1) e^-t dt; NaN for negative a or x
/// Runs on the host and waits for the device. In place (`name_`), self has the result's shape and
/// dtype. Gradient: other. Errors: also NotImplementedError in a backward to self.
/// @{
AMBIT_API Tensor igamma(const Tensor& self, const Tensor& other);
AMBIT_API const Tensor& igamma_(const Tensor& self, const Tensor& other);
/// @}
/// Compute the upper one, Q(a, x) = 1 - P(a, x), accurate for small results; else like igamma().
/// @{
AMBIT_API Tensor igammac(const Tensor& self, const Tensor& other);
AMBIT_API const Tensor& igammac_(const Tensor& self, const Tensor& other);
/// @}
/// Split floating-point numbers: self = mantissa 2^exponent, |mantissa| in [0.5, 1), of self's
/// dtype, and exponent int32; (self, 0) for 0, infinities and NaN. Runs on the host and waits for
/// the device. Gradient: self, through the mantissa.
AMBIT_API std::tuple<Tensor, Tensor> frexp(const Tensor& self);

}  // namespace ambit
