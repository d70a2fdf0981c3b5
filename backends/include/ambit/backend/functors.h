// The functions of the families unary, binary, ternary and compare on one element, for kernels of
// any backend, on host or device, each as a functor: Functor<UnaryOp::exp>()(x). Same results as
// `reference`, except that floats are computed in their own precision. Functors exist only for
// functions listed here and for the dtypes in function_table.h.
#pragma once

#include <ambit/backend/activation_constants.h>
#include <ambit/backend/arithmetic.h>
#include <ambit/backend/special_functions.h>
#include <ambit/error.h>
#include <ambit/function_table.h>
#include <ambit/scalar.h>

#include <cmath>
#include <limits>
#include <optional>
#include <string>
#include <type_traits>

namespace ambit {

/// Check the dtype of a function's operands. Errors: DTypeError if the function is not defined for
/// it.
template <class Op>
void expect_operand_dtype(Op op, DType dtype) {
  if (row_of(op).dtypes.contains(dtype)) return;
  throw DTypeError(name(op) + std::string(": expected a dtype it is defined for, got ") +
                   name(dtype));
}

namespace arithmetic {

/// The dtypes that the function computes with.
template <class T, auto op>
concept OperandOf = (row_of(op).dtypes.contains(dtype_of<T>));

/// The type of the function's result for operands of type T: bool or T.
template <auto op, class T>
using ResultOf = std::conditional_t<row_of(op).result == FunctionRow::Result::boolean, bool, T>;

inline constexpr double kSqrtHalf = 0.70710678118654752440;      ///< 1 / sqrt(2)
inline constexpr double kInvSqrtTwoPi = 0.39894228040143267794;  ///< 1 / sqrt(2 pi)

/// Return 1 / (1 + e^-x). exp(-|x|) cannot overflow and keeps the digits of tiny results.
template <class T>
AMBIT_HOST_DEVICE T sigmoid(T x) {
  const T e = std::exp(-std::fabs(x));
  return (x < 0 ? e : T(1)) / (1 + e);
}

/// Return the normal distribution function; erfc keeps the digits of its lower tail.
template <class T>
AMBIT_HOST_DEVICE T normal_cdf(T x) {
  return T(0.5) * std::erfc(-x * T(kSqrtHalf));
}
/// Return the density of the normal distribution.
template <class T>
AMBIT_HOST_DEVICE T normal_density(T x) {
  return std::exp(T(-0.5) * x * x) * T(kInvSqrtTwoPi);
}

/// Return 2 sqrt(2 / pi) (x + 0.044715 x^3). gelu_tanh(x) is x times its sigmoid, which keeps the
/// digits of the lower tail that 1 + tanh() loses.
template <class T>
AMBIT_HOST_DEVICE T gelu_tanh_logit(T x) {
  return T(kGeluTanhSlope) * x * (1 + T(kGeluTanhCube) * x * x);
}
/// Return d gelu_tanh(x) / dx.
template <class T>
AMBIT_HOST_DEVICE T gelu_tanh_slope(T x) {
  const T s = sigmoid(gelu_tanh_logit(x));
  return s + s * (1 - s) * x * T(kGeluTanhSlope) * (1 + 3 * T(kGeluTanhCube) * x * x);
}

/// Return tanh(log(1 + e^x)) = (1 - q) / (1 + q), q = (1 + e^x)^-2. Both terms are computed from
/// e^-|x| and scaled by a power of it, so that nothing overflows.
template <class T>
AMBIT_HOST_DEVICE T mish_gate(T x) {
  const T e = std::exp(-std::fabs(x));
  const T above = x < 0 ? e * (e + 2) : 1 + 2 * e, rest = x < 0 ? T(2) : 2 * e * e;
  return above / (above + rest);
}
/// Return d(x mish_gate(x))/dx; mish_gate' = sigmoid(x) (1 - mish_gate(x)^2) without cancellation.
template <class T>
AMBIT_HOST_DEVICE T mish_slope(T x) {
  const T e = std::exp(-std::fabs(x));
  const T above = x < 0 ? e * (e + 2) : 1 + 2 * e, rest = x < 0 ? T(2) : 2 * e * e;
  const T below = above + rest;
  const T slope = (x < 0 ? e : T(1)) / (1 + e) * (rest / below) * ((above + below) / below);
  return above / below + x * slope;
}

/// Return log(x / (1 - x)); next to 1/2 the quotient is nearly 1, and 2 x - 1 is exact.
template <class T>
AMBIT_HOST_DEVICE T logit(T x) {
  return x > T(0.25) && x < T(0.75) ? std::log1p((2 * x - 1) / (1 - x)) : std::log(x / (1 - x));
}

/// Return 1 / (c x^2 + 1) for c = 1 or -1, without overflow.
template <class T>
AMBIT_HOST_DEVICE T atan_slope(T x, T c) {
  return std::fabs(x) > T(4294967296.) ? 1 / x / (c * x) : 1 / (c * (x * x) + 1);
}
/// Return 1 / sqrt(x^2 + c) for c = 1 or -1, without overflow.
template <class T>
AMBIT_HOST_DEVICE T asinh_slope(T x, T c) {
  return 1 / (std::fabs(x) > T(4294967296.) ? std::fabs(x) : std::sqrt(x * x + c));
}

/// Return log(1 + e^-|x|).
template <class T>
AMBIT_HOST_DEVICE T log_of_tail(T x) {
  return std::log1p(std::exp(-std::fabs(x)));
}
/// Return (1 - t) x - log(sigmoid(x)); terms in x, which may cancel, are added first.
template <class T>
AMBIT_HOST_DEVICE T logit_loss(T x, T t) {
  return ((1 - t) * x - minimum(x, T(0))) + log_of_tail(x);
}
/// Return sigmoid(x) - t, from the smaller of sigmoid(x) and sigmoid(-x).
template <class T>
AMBIT_HOST_DEVICE T logit_loss_slope(T x, T t) {
  const T e = std::exp(-std::fabs(x)), less = e / (1 + e);
  return x < 0 ? less - t : (1 - t) - less;
}

/// Return min(max(x + 3, 0), 6) / 6.
template <class T>
AMBIT_HOST_DEVICE T hard_sigmoid(T x) {
  return minimum(maximum(x + 3, T(0)), T(6)) / 6;
}

/// One function of a family: Functor<BinaryOp::add>()(a, b). Formulas: function_table.h.
template <auto op>
struct Functor;

/// @cond
#define AMBIT_FUNCTOR(op, expression, ...)                            \
  template <>                                                         \
  struct Functor<op> {                                                \
    template <OperandOf<op> T>                                        \
    AMBIT_HOST_DEVICE ResultOf<op, T> operator()(__VA_ARGS__) const { \
      return static_cast<ResultOf<op, T>>(expression);                \
    }                                                                 \
  };
#define AMBIT_UNARY(name, expression) AMBIT_FUNCTOR(UnaryOp::name, expression, T x)
#define AMBIT_BINARY(name, expression) AMBIT_FUNCTOR(BinaryOp::name, expression, T a, T b)
#define AMBIT_TERNARY(name, expression) AMBIT_FUNCTOR(TernaryOp::name, expression, T a, T b, T c)
#define AMBIT_COMPARE(name, expression) AMBIT_FUNCTOR(CompareOp::name, expression, T a, T b)
// clang-format off

AMBIT_UNARY(neg,         negative(x))
AMBIT_UNARY(abs,         magnitude(x))
AMBIT_UNARY(sign,        (x > T(0)) - is_negative(x))
AMBIT_UNARY(exp,         std::exp(x))
AMBIT_UNARY(exp2,        std::exp2(x))
AMBIT_UNARY(expm1,       std::expm1(x))
AMBIT_UNARY(log,         std::log(x))
AMBIT_UNARY(log1p,       std::log1p(x))
AMBIT_UNARY(log2,        std::log2(x))
AMBIT_UNARY(log10,       std::log10(x))
AMBIT_UNARY(sqrt,        std::sqrt(x))
AMBIT_UNARY(rsqrt,       1 / std::sqrt(x))
AMBIT_UNARY(reciprocal,  1 / x)
AMBIT_UNARY(square,      wrap_mul(x, x))
AMBIT_UNARY(sin,         std::sin(x))
AMBIT_UNARY(cos,         std::cos(x))
AMBIT_UNARY(tan,         std::tan(x))
AMBIT_UNARY(asin,        std::asin(x))
AMBIT_UNARY(acos,        std::acos(x))
AMBIT_UNARY(atan,        std::atan(x))
AMBIT_UNARY(sinh,        std::sinh(x))
AMBIT_UNARY(cosh,        std::cosh(x))
AMBIT_UNARY(tanh,        std::tanh(x))
AMBIT_UNARY(sigmoid,     sigmoid(x))
AMBIT_UNARY(relu,        maximum(x, T(0)))  // keeps NaN and -0
AMBIT_UNARY(asinh,       std::asinh(x))
AMBIT_UNARY(acosh,       std::acosh(x))
AMBIT_UNARY(atanh,       std::atanh(x))
AMBIT_UNARY(erf,         std::erf(x))
AMBIT_UNARY(erfc,        std::erfc(x))
AMBIT_UNARY(erfinv,      inverse_erf(x))
AMBIT_UNARY(lgamma,      std::lgamma(x))
AMBIT_UNARY(digamma,     digamma(x))
AMBIT_UNARY(i0,          bessel_i0(x))
AMBIT_UNARY(i1,          bessel_i1(x))
AMBIT_UNARY(sinc,        sine_cardinal(x))
AMBIT_UNARY(logit,       logit(x))
AMBIT_UNARY(erfcx,       scaled_erfc(x))
AMBIT_UNARY(i0e,         scaled_bessel_i0(x))
AMBIT_UNARY(i1e,         scaled_bessel_i1(x))
AMBIT_UNARY(ndtri,       inverse_normal_cdf(x))
AMBIT_UNARY(frac,        x - std::trunc(x))
AMBIT_UNARY(floor,       std::floor(x))
AMBIT_UNARY(ceil,        std::ceil(x))
AMBIT_UNARY(round,       std::nearbyint(x))
AMBIT_UNARY(trunc,       std::trunc(x))
AMBIT_UNARY(bitwise_not, complement(x))
AMBIT_UNARY(logical_not, x == T(0))
AMBIT_UNARY(gelu,        x * normal_cdf(x))
AMBIT_UNARY(gelu_tanh,   x * sigmoid(gelu_tanh_logit(x)))
AMBIT_UNARY(silu,        x * sigmoid(x))
AMBIT_UNARY(mish,        x * mish_gate(x))
AMBIT_UNARY(selu,        x <= 0 ? T(kSeluScale * kSeluAlpha) * std::expm1(x) : T(kSeluScale) * x)
AMBIT_UNARY(logsigmoid,  minimum(x, T(0)) - log_of_tail(x))
AMBIT_UNARY(hardsigmoid, hard_sigmoid(x))
AMBIT_UNARY(hardswish,   x * hard_sigmoid(x))
AMBIT_UNARY(signbit,     has_sign(x))
AMBIT_UNARY(isnan,       x != x)
AMBIT_UNARY(isinf,       is_infinite(x))
AMBIT_UNARY(isfinite,    is_finite(x))

AMBIT_BINARY(add,          wrap_add(a, b))
AMBIT_BINARY(sub,          wrap_sub(a, b))
AMBIT_BINARY(mul,          wrap_mul(a, b))
AMBIT_BINARY(div,          a / b)
AMBIT_BINARY(floor_divide, floor_divide(a, b))
AMBIT_BINARY(trunc_divide, trunc_divide(a, b))
AMBIT_BINARY(remainder,    remainder(a, b))
AMBIT_BINARY(fmod,         truncated_remainder(a, b))
AMBIT_BINARY(pow,          power(a, b))
AMBIT_BINARY(maximum,      maximum(a, b))
AMBIT_BINARY(minimum,      minimum(a, b))
AMBIT_BINARY(atan2,        std::atan2(a, b))
AMBIT_BINARY(fmax,         a >= b || b != b ? a : b)
AMBIT_BINARY(fmin,         a <= b || b != b ? a : b)
AMBIT_BINARY(hypot,        std::hypot(a, b))
AMBIT_BINARY(copysign,     std::copysign(a, b))
AMBIT_BINARY(nextafter,    std::nextafter(a, b))
AMBIT_BINARY(xlogy,        b != b ? b : a == 0 ? T(0) : a * std::log(b))
AMBIT_BINARY(logaddexp,    log_add_exp(a, b))
AMBIT_BINARY(logaddexp2,   log_add_exp2(a, b))
AMBIT_BINARY(heaviside,    a == T(0) ? b : T(a > T(0)))
AMBIT_BINARY(zeta,         zeta(a, b))
AMBIT_BINARY(gcd,          greatest_divisor(a, b))
AMBIT_BINARY(lcm,          least_multiple(a, b))
AMBIT_BINARY(left_shift,   shift_left(a, b))
AMBIT_BINARY(right_shift,  shift_right(a, b))
AMBIT_BINARY(bitwise_and,  a & b)
AMBIT_BINARY(bitwise_or,   a | b)
AMBIT_BINARY(bitwise_xor,  a ^ b)
AMBIT_BINARY(relu_grad,    b <= T(0) ? T(0) : a)  // passes the gradient where b is NaN
AMBIT_BINARY(sigmoid_grad, a * ((1 - b) * b))
AMBIT_BINARY(tanh_grad,    a * (1 - b * b))
AMBIT_BINARY(gelu_grad,    a * (normal_cdf(b) + b * normal_density(b)))
AMBIT_BINARY(gelu_tanh_grad, a * gelu_tanh_slope(b))
AMBIT_BINARY(silu_grad,    a * (sigmoid(b) * (1 + b * sigmoid(-b))))
AMBIT_BINARY(mish_grad,    a * mish_slope(b))
AMBIT_BINARY(selu_grad,    a * (b <= 0 ? T(kSeluScale * kSeluAlpha) * std::exp(b) : T(kSeluScale)))
AMBIT_BINARY(logsigmoid_grad, a * sigmoid(-b))
AMBIT_BINARY(hardsigmoid_grad, (b > -3) & (b < 3) ? a / 6 : T(0))
AMBIT_BINARY(hardswish_grad, b <= -3 ? T(0) : b < 3 ? a * (b / 3 + T(0.5)) : a)
AMBIT_BINARY(elu,          a <= 0 ? b * std::expm1(a) : a)
AMBIT_BINARY(celu,         a <= 0 ? b * std::expm1(a / b) : a)
AMBIT_BINARY(leaky_relu,   a > 0 ? a : b * a)
AMBIT_BINARY(softplus,     a * b > T(kSoftplusThreshold) ? a : std::log1p(std::exp(a * b)) / b)
AMBIT_BINARY(smooth_l1,    magnitude(a) < b ? T(0.5) * a * a / b : magnitude(a) - T(0.5) * b)
AMBIT_BINARY(huber,        magnitude(a) < b ? T(0.5) * a * a : b * (magnitude(a) - T(0.5) * b))
AMBIT_BINARY(logit_loss,   logit_loss(a, b))

AMBIT_TERNARY(add_scaled,      wrap_add(a, wrap_mul(c, b)))
AMBIT_TERNARY(lerp,            lerp(a, b, c))
AMBIT_TERNARY(elu_grad,        b <= 0 ? a * (c * std::exp(b)) : a)
AMBIT_TERNARY(celu_grad,       b <= 0 ? a * std::exp(b / c) : a)
AMBIT_TERNARY(leaky_relu_grad, b > 0 ? a : c * a)
AMBIT_TERNARY(softplus_grad,   b * c > T(kSoftplusThreshold) ? a : a * sigmoid(b * c))
AMBIT_TERNARY(smooth_l1_grad,  b <= -c ? -a : b >= c ? a : a * (b / c))
AMBIT_TERNARY(huber_grad,      b <= -c ? -c * a : b >= c ? c * a : a * b)
AMBIT_TERNARY(logit_loss_grad, a * logit_loss_slope(b, c))
AMBIT_TERNARY(maximum_grad,    b < c ? T(0) : b == c ? a * T(0.5) : a)
AMBIT_TERNARY(minimum_grad,    b > c ? T(0) : b == c ? a * T(0.5) : a)
AMBIT_TERNARY(pow_base_grad,   c == 0 ? T(0) : a * (c * std::pow(b, c - 1)))
AMBIT_TERNARY(pow_exponent_grad, (b == 0) & (c >= 0) ? T(0) : a * (std::pow(b, c) * std::log(b)))
AMBIT_TERNARY(logaddexp_grad,  a / (1 + std::exp(c - b)))
AMBIT_TERNARY(abs_grad,        a * (c * ((b > 0) - is_negative(b))))
AMBIT_TERNARY(square_grad,     a * (c * b))
AMBIT_TERNARY(reciprocal_grad, a * (c * (b * b)))
AMBIT_TERNARY(rsqrt_grad,      a * (c * (b * b * b)))
AMBIT_TERNARY(sqrt_grad,       a / (c * b))
AMBIT_TERNARY(expm1_grad,      a * (b + c))
AMBIT_TERNARY(log1p_grad,      a / (b + c))
AMBIT_TERNARY(tan_grad,        a * (b * b + c))
AMBIT_TERNARY(atan_grad,       a * atan_slope(b, c))
AMBIT_TERNARY(asin_grad,       a * (c / std::sqrt((1 - b) * (1 + b))))
AMBIT_TERNARY(asinh_grad,      a * asinh_slope(b, c))
AMBIT_TERNARY(sin_grad,        a * (c * std::cos(b)))
AMBIT_TERNARY(cos_grad,        a * (c * std::sin(b)))
AMBIT_TERNARY(sinh_grad,       a * (c * std::cosh(b)))
AMBIT_TERNARY(cosh_grad,       a * (c * std::sinh(b)))
AMBIT_TERNARY(erf_grad,        a * (c * std::exp(-b * b)))
AMBIT_TERNARY(erfinv_grad,     a * (c * std::exp(b * b)))
AMBIT_TERNARY(lgamma_grad,     a * (c * T(digamma(b))))
AMBIT_TERNARY(i0_grad,         a * (c * T(bessel_i1(b))))
AMBIT_TERNARY(softsign_grad,   a * (c / ((1 + magnitude(b)) * (1 + magnitude(b)))))
AMBIT_TERNARY(div_grad,        -(a * (c / b / b)))
AMBIT_TERNARY(hypot_grad,      a * (b / std::hypot(b, c)))
AMBIT_TERNARY(atan2_grad,      a * angle_slope(c, b))
AMBIT_TERNARY(atan2_other_grad, -(a * angle_slope(b, c)))
AMBIT_TERNARY(binary_cross_entropy_grad, a * (b - c) / maximum(b * (1 - b), T(1e-12)))
AMBIT_TERNARY(glu_grad,        a * (b * (c * (1 - c))))

AMBIT_COMPARE(eq,          a == b)
AMBIT_COMPARE(ne,          a != b)
AMBIT_COMPARE(lt,          a < b)
AMBIT_COMPARE(le,          a <= b)
AMBIT_COMPARE(gt,          a > b)
AMBIT_COMPARE(ge,          a >= b)
AMBIT_COMPARE(logical_and, (a != T(0)) & (b != T(0)))
AMBIT_COMPARE(logical_or,  (a != T(0)) | (b != T(0)))
AMBIT_COMPARE(logical_xor, (a != T(0)) ^ (b != T(0)))

// clang-format on
#undef AMBIT_UNARY
#undef AMBIT_BINARY
#undef AMBIT_TERNARY
#undef AMBIT_COMPARE
#undef AMBIT_FUNCTOR
/// @endcond

/// Return the number converted to an element as kernels::fill does. Errors: DTypeError for a number
/// from 2^63 on, if T is an integer type.
template <class T>
T element_of(const Scalar& number) {
  if constexpr (!std::is_integral_v<T> || std::is_same_v<T, bool>) {
    if (number.dtype() == kUInt64) return number.cast<T>();
  }
  return number.is_floating_point() ? convert<T>(number.to<double>())
                                    : convert<T>(number.to<int64_t>());
}

/// The function of kernels::clamp; an absent bound is replaced by one that no element exceeds.
template <class T>
struct Clamp {
  /// The bounds, converted to T.
  Clamp(const std::optional<Scalar>& min, const std::optional<Scalar>& max)
      : low(min ? element_of<T>(*min) : worst<T>(true)),
        high(max ? element_of<T>(*max) : worst<T>(false)) {}
  /// minimum(maximum(x, low), high), written so that compilers vectorise it. NaN and zeros of
  /// either sign pass unchanged because the comparisons are false; a NaN bound always gives NaN.
  AMBIT_HOST_DEVICE T operator()(T x) const {
    const T v = ((x < low) | (low != low)) ? low : x;
    return ((v > high) | (high != high)) ? high : v;
  }

  T low;   ///< the lower bound
  T high;  ///< the upper bound
};

/// The function of kernels::clamp_grad. low and high are the smallest and largest number within the
/// exclusive bounds: their neighbours, an infinity for an absent bound, NaN if there is none.
template <class T>
struct ClampGrad {
  /// The parameters of kernels::clamp_grad.
  ClampGrad(const std::optional<Scalar>& min, const std::optional<Scalar>& max, bool passes_nan)
      : low(next_to(min, true, passes_nan)),
        high(next_to(max, false, passes_nan)),
        nan_passes(passes_nan || (!min && !max)) {}
  /// Return dy if x is within the bounds, else 0.
  AMBIT_HOST_DEVICE T operator()(T dy, T x) const {
    return ((x >= low) & (x <= high)) | (nan_passes & (x != x)) ? dy : T(0);
  }
  /// Return the nearest number inside an exclusive bound, see above.
  static T next_to(const std::optional<Scalar>& bound, bool lower, bool passes_nan) {
    if (!bound) return worst<T>(lower);
    const T b = element_of<T>(*bound);
    if (b != b) return passes_nan ? worst<T>(lower) : b;
    return b == worst<T>(!lower) ? std::numeric_limits<T>::quiet_NaN()
                                 : std::nextafter(b, worst<T>(!lower));
  }

  T low;            ///< the smallest x with a gradient
  T high;           ///< the largest x with a gradient
  bool nan_passes;  ///< whether NaN has a gradient
};

}  // namespace arithmetic
}  // namespace ambit
