// Error bounds of the elementwise functions: the most by which results of two correct kernels may
// differ. `ambit conformance` and the shadow device (AMBIT_SHADOW) compare with this one table.
#pragma once

#include <ambit/dtype.h>
#include <ambit/finfo.h>
#include <ambit/function_table.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace ambit {

/// |got - expected| <= ulps * computing_epsilon(dtype) * |expected| + absolute, plus for each
/// element each(a, b, c) * computing_epsilon(dtype), with its operands. Integers and bool must be
/// equal.
struct ErrorBound {
  double ulps = 0;      ///< relative part, in units of the result's last place
  double absolute = 0;  ///< part that is equal for all elements
  /// The part that depends on the operands; null: none. A missing operand is 0.
  double (*each)(double a, double b, double c) = nullptr;
  const char* why = "exact: nothing is rounded, or both round the same once";  ///< the derivation
};

/// Return twice the relative error of a rounding in the dtype of the computation, which is float32
/// for reduced floating-point types; 0 for integers and bool.
inline double computing_epsilon(DType dtype) {
  if (!is_floating_point(dtype)) return 0;
  return finfo(is_reduced_floating(dtype) ? kFloat32 : dtype).eps;
}

/// Return the error of an element as a multiple of the allowed one: 0 for equal elements, infinity
/// if no bound can hold. Results of reduced floating-point types may differ by one more unit in the
/// last place, unless they must be exact: nearby numbers can round to neighbours. If `absolute` is
/// the largest double, the result may also overflow.
template <class T>
double error_in_bounds(T got, T expected, double ulps, double absolute) {
  if (got == expected) return 0;
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  if constexpr (std::numeric_limits<T>::is_integer) {
    return kInfinity;
  } else {
    const auto y = static_cast<double>(got), x = static_cast<double>(expected);
    if (std::isnan(y) && std::isnan(x)) return 0;
    const bool may_overflow = absolute == std::numeric_limits<double>::max();
    if (!std::isfinite(y) || !std::isfinite(x)) return may_overflow ? 0 : kInfinity;
    const auto least = static_cast<double>(std::numeric_limits<T>::denorm_min());
    double allowed =
        ulps * std::max(std::abs(x) * computing_epsilon(dtype_of<T>), least) + absolute;
    if (ReducedFloat<T> && allowed > 0) {
      allowed += std::max(std::abs(x) * finfo(dtype_of<T>).eps, least);
    }
    if (!std::isfinite(allowed)) return 0;
    return allowed > 0 ? std::abs(y - x) / allowed : kInfinity;
  }
}

/// Return factor * size, but at most `most` for sizes up to `largest`, the size for the operands of
/// `ambit conformance`; for larger sizes in proportion.
inline double capped_error(double size, double factor, double most, double largest) {
  return std::max(std::min(factor * size, most), most * size / largest);
}

/// Return the bound of a function whose results have this dtype.
/// @{
inline ErrorBound error_bound(UnaryOp op, DType dtype) {
  const double eps = computing_epsilon(dtype);
  if (eps == 0) return {};
  const double denormal = dtype == kFloat64
                              ? std::numeric_limits<double>::denorm_min()
                              : static_cast<double>(std::numeric_limits<float>::denorm_min());
  switch (op) {
    case UnaryOp::neg:
    case UnaryOp::abs:
    case UnaryOp::sign:
    case UnaryOp::relu:
    case UnaryOp::floor:
    case UnaryOp::ceil:
    case UnaryOp::round:
    case UnaryOp::trunc:
    case UnaryOp::frac:
      return {};
    case UnaryOp::gelu:
      return {5, 0, [](double x, double, double) { return std::isfinite(x) ? std::abs(x) : 0; },
              "x / 2 * (1 + erf(x / sqrt 2)): erf near -1 is exact to half an ulp of 1"};
    case UnaryOp::gelu_tanh:
      // In the lower tail s(u) = e^u, and |x| |u| e^u < 0.3.
      return {8, eps, nullptr,
              "x s(u), s = 1 / (1 + e^-u): libm is accurate to 4 ulp, of a u rounded three times"};
    case UnaryOp::lgamma:
    case UnaryOp::digamma:
      return {8, 16 * eps, nullptr,
              "libm is accurate to 4 ulp; near the zeros, to ulps of the terms that cancel"};
    case UnaryOp::i1:
    case UnaryOp::i1e:
      return {16, 0, nullptr, "a sum of terms that cancel to a tenth"};
    case UnaryOp::erfcx:
      return {12, 0, nullptr, "two functions of libm, each accurate to 4 ulp"};
    case UnaryOp::ndtri:
      return {12, eps, nullptr,
              "two functions of libm, each accurate to 4 ulp; near 1/2 a difference of parts of 1"};
    case UnaryOp::sinc:
      return {5, 2 * eps, nullptr, "near the zeros pi x is rounded"};
    case UnaryOp::logit:
      return {5, eps, nullptr, "near 1/2 the logarithm of a rounded quotient of 1"};
    case UnaryOp::sin:
    case UnaryOp::cos:
      return {5, eps, nullptr,
              "libm is accurate to 4 ulp; near the zeros k pi, to an ulp of the subtracted part"};
    case UnaryOp::sigmoid:
      return {5, std::numeric_limits<double>::min(), nullptr,
              "libm is accurate to 4 ulp; exp(-|x|), and so the result, may be denormal"};
    case UnaryOp::hardsigmoid:
    case UnaryOp::hardswish:
      return {3, 0, nullptr, "three roundings"};
    case UnaryOp::silu:
    case UnaryOp::mish:
      return {10, 1000 * denormal, nullptr,
              "two functions of libm accurate to 4 ulp; a denormal one is multiplied by up to 745"};
    case UnaryOp::selu:
    case UnaryOp::logsigmoid:
      return {10, denormal, nullptr, "two functions of libm, each accurate to 4 ulp"};
    default:
      return {5, 0, nullptr, "libm is accurate to 4 ulp, and the reference rounds once more"};
  }
}
inline ErrorBound error_bound(BinaryOp op, DType dtype) {
  const double eps = computing_epsilon(dtype);
  if (eps == 0) return {};
  switch (op) {
    case BinaryOp::pow:
      return {
          5, 0,
          [](double a, double b, double) {
            const double exponent = std::abs(b * std::log(std::abs(a)));
            return a != 0 && exponent > 40 ? std::pow(std::abs(a), b) * exponent : 0;
          },
          "libm is accurate to 4 ulp, and the reference rounds once more; beyond e^40, a rounded "
          "exponent"};
    case BinaryOp::atan2:
    case BinaryOp::hypot:
    case BinaryOp::xlogy:
      return {5, 0, nullptr, "libm is accurate to 4 ulp, and the reference rounds once more"};
    case BinaryOp::logaddexp:
    case BinaryOp::logaddexp2:
      return {5, 0,
              [](double a, double b, double) {
                return capped_error(std::max({1., std::abs(a), std::abs(b)}), 2, 4, 3);
              },
              "libm is accurate to 4 ulp of numbers that may cancel"};
    case BinaryOp::zeta:
      return {64, 64 * eps, nullptr,
              "a sum of powers, each accurate to some ulp of an increasing one"};
    case BinaryOp::relu_grad:
      return {};
    case BinaryOp::sigmoid_grad:
    case BinaryOp::tanh_grad:
      return {4, 0,
              [](double a, double b, double) {
                return capped_error(std::abs(a) * (1 + b * b), 2, 16, 30);
              },
              "three roundings; that of a square, which 1 may cancel, on one of the devices"};
    case BinaryOp::gelu_grad:
      return {5, 0,
              [](double a, double b, double) {
                return capped_error(std::abs(a) * std::max(1., std::abs(b)), 4, 16, 9);
              },
              "libm is accurate to 4 ulp of numbers up to 1"};
    case BinaryOp::gelu_tanh_grad:
      return {8, 0,
              [](double a, double b, double) {
                return capped_error(std::abs(a) * std::max(1., std::abs(b)), 8, 64, 9);
              },
              "s + x u' s (1 - s): s accurate to 4 ulp, of a u rounded three times"};
    case BinaryOp::silu_grad:
    case BinaryOp::mish_grad:
      return {8, 0,
              [](double a, double b, double) {
                return capped_error(std::abs(a) * std::max(1., std::abs(b)), 8, 32, 9);
              },
              "functions of libm, each accurate to 4 ulp, in sums that may cancel"};
    case BinaryOp::logit_loss:
      return {8, 0,
              [](double a, double b, double) {
                return capped_error(std::max(1., std::abs(a)) * std::max(1., std::abs(b)), 4, 32,
                                    9);
              },
              "functions of libm, each accurate to 4 ulp, in sums that may cancel"};
    case BinaryOp::hardswish_grad:
      return {2, 0,
              [](double a, double b, double) {
                return capped_error(std::abs(a) * std::max(1., std::abs(b)), 1, 8, 9);
              },
              "a sum of roundings that may cancel, times a"};
    case BinaryOp::selu_grad:
    case BinaryOp::logsigmoid_grad:
    case BinaryOp::elu:
      return {8, 0, nullptr, "libm is accurate to 4 ulp, and two products or quotients"};
    case BinaryOp::celu:
    case BinaryOp::softplus:
      return {24, 0,
              [](double a, double, double) {
                return std::abs(a) > 9 ? std::abs(a) * std::exp(-std::abs(a)) : 0;
              },
              "two functions of libm, each accurate to 4 ulp, of a rounded number; beyond 9, the "
              "rounding of an exponent"};
    case BinaryOp::smooth_l1:
    case BinaryOp::huber:
      return {3, 0, nullptr, "three roundings"};
    default:
      return {1, 0, nullptr, "one rounding"};
  }
}
inline ErrorBound error_bound(TernaryOp op, DType dtype) {
  if (computing_epsilon(dtype) == 0) return {};
  switch (op) {
    case TernaryOp::add_scaled:
      return {1, 0,
              [](double, double b, double c) { return capped_error(std::abs(b * c), 1, 8, 9); },
              "the product is rounded before the sum, or not"};
    case TernaryOp::lerp:
      return {8, 0,
              [](double a, double b, double c) {
                return capped_error(std::max(std::abs(a), std::abs(b)) * std::max(1., std::abs(c)),
                                    2, 8, 9);
              },
              "products that may cancel an end"};
    case TernaryOp::maximum_grad:
    case TernaryOp::minimum_grad:
      return {};
    case TernaryOp::leaky_relu_grad:
    case TernaryOp::smooth_l1_grad:
    case TernaryOp::huber_grad:
      return {2, 0, nullptr, "two roundings"};
    case TernaryOp::logit_loss_grad:
      return {8, 0,
              [](double a, double, double c) {
                return capped_error(std::abs(a) * std::max(1., std::abs(c)), 8, 32, 9);
              },
              "libm is accurate to 4 ulp in a difference that may cancel"};
    case TernaryOp::pow_base_grad:
    case TernaryOp::pow_exponent_grad:
      return {24, 0,
              [](double a, double b, double c) {
                const double log = std::abs(c * std::log(std::abs(b)));
                return b != 0 && log > 40 ? std::abs(a * std::pow(std::abs(b), c)) * log * log : 0;
              },
              "two functions of libm; a rounded exponent times a logarithm"};
    case TernaryOp::abs_grad:
    case TernaryOp::square_grad:
    case TernaryOp::reciprocal_grad:
    case TernaryOp::rsqrt_grad:
    case TernaryOp::sqrt_grad:
    case TernaryOp::expm1_grad:
    case TernaryOp::log1p_grad:
    case TernaryOp::atan_grad:
    case TernaryOp::softsign_grad:
    case TernaryOp::div_grad:
    case TernaryOp::atan2_grad:
    case TernaryOp::atan2_other_grad:
    case TernaryOp::binary_cross_entropy_grad:
    case TernaryOp::glu_grad:
      return {8, 0, nullptr, "at most eight roundings; the terms are operands, or have one sign"};
    case TernaryOp::tan_grad:
      return {3, 0,
              [](double a, double b, double c) {
                return capped_error(std::abs(a) * (b * b + std::abs(c)), 1, 18, 36);
              },
              "a rounded square, which a term may cancel"};
    case TernaryOp::sin_grad:
    case TernaryOp::cos_grad:
      return {8, 0, [](double a, double, double c) { return std::abs(a * c); },
              "libm is accurate to 4 ulp, near its zeros to an ulp of 1"};
    case TernaryOp::lgamma_grad:
      return {10, 0, [](double a, double, double c) { return 16 * std::abs(a * c); },
              "the error of digamma, which has zeros"};
    case TernaryOp::i0_grad:
      return {18, 0, nullptr, "a sum of terms that cancel to a tenth, and two products"};
    case TernaryOp::erf_grad:
      return {16, 0,
              [](double a, double b, double c) {
                return b * b > 9 ? std::abs(a * c) * b * b * std::exp(-b * b) : 0;
              },
              "libm is accurate to 4 ulp, of a rounded exponent"};
    case TernaryOp::erfinv_grad:
      return {16, 0,
              [](double a, double b, double c) {
                return b * b > 9 ? std::abs(a * c) * b * b * std::exp(b * b) : 0;
              },
              "libm is accurate to 4 ulp, of a rounded exponent"};
    default:
      return {16, 0, nullptr, "libm is accurate to 4 ulp, for a rounded number up to 9"};
  }
}
/// @}

}  // namespace ambit
