// Activations, elementwise losses and their gradients, in float64, by the formulas of the papers.
#pragma once

#include <ambit/backend/activation_constants.h>

#include <cmath>

namespace ambit::reference {

// Where e^-x overflows, e^x is still accurate.
inline double sigmoid(double x) {
  return x < 0 ? std::exp(x) / (1 + std::exp(x)) : 1 / (1 + std::exp(-x));
}

// Use long double, since next to 1/2 the rounding of the quotient loses digits.
inline double logit(double x) {
  const long double at = x;
  return static_cast<double>(std::log(at / (1 - at)));
}

// gelu(x) is approximately x / 2 (1 + tanh(u / 2)) = x / (1 + e^-u) with u = 2 sqrt(2 / pi) (x +
// 0.044715 x^3). It is computed in long double, because the exponential amplifies rounding errors
// of u.
inline long double gelu_tanh_logit(long double x) {
  return 1.59576912160573071175978423973752L * (x + 0.044715L * x * x * x);
}
inline double gelu_tanh(double x) {
  return static_cast<double>(x / (1 + std::exp(-gelu_tanh_logit(x))));
}

inline double silu(double x) { return x * sigmoid(x); }

inline double log_sigmoid(double x) {
  return x < 0 ? x - std::log1p(std::exp(x)) : -std::log1p(std::exp(-x));
}

inline double hard_sigmoid(double x) { return x <= -3 ? 0 : x >= 3 ? 1 : (x + 3) / 6; }

inline double selu(double x) {
  return arithmetic::kSeluScale * (x <= 0 ? arithmetic::kSeluAlpha * std::expm1(x) : x);
}

// The normal distribution function, in long double, because erfc's tail amplifies the operand's
// rounding error.
inline long double normal_cdf(double x) {
  return 0.5L * std::erfc(-x * 0.707106781186547524400844362104849039L);
}

inline double gelu(double x) { return static_cast<double>(x * normal_cdf(x)); }

// Return dy * d(x Phi(x))/dx, with Phi and phi the normal distribution function and density.
inline double gelu_grad(double dy, double x) {
  const auto cdf = static_cast<double>(normal_cdf(x));
  const double density = std::exp(-0.5 * x * x) * 0.5 * M_SQRT1_2 * M_2_SQRTPI;
  return dy * (cdf + x * density);
}

// Return dy * d(x / (1 + e^-u))/dx.
inline double gelu_tanh_grad(double dy, double x) {
  const long double slope = 1.59576912160573071175978423973752L * (1 + 3 * 0.044715L * x * x);
  const long double s = 1 / (1 + std::exp(-gelu_tanh_logit(x)));
  return static_cast<double>(dy * (s + x * s * (1 - s) * slope));
}

inline double silu_grad(double dy, double x) {
  return dy * sigmoid(x) * (1 + x * (1 - sigmoid(x)));
}

// Return dy * d(x tanh(u))/dx, u = log(1 + e^x), u' = sigmoid(x).
inline double mish_grad(double dy, double x) {
  const double gate = std::tanh(std::log1p(std::exp(x)));
  return dy * (gate + x * sigmoid(x) * (1 - gate * gate));
}

inline double selu_grad(double dy, double x) {
  return dy * (arithmetic::kSeluScale * (x <= 0 ? arithmetic::kSeluAlpha * std::exp(x) : 1));
}

inline double hardswish_grad(double dy, double x) {
  return x <= -3 ? 0 : x < 3 ? dy * ((2 * x + 3) / 6) : dy;
}

inline double softplus(double x, double beta) {
  if (x * beta > arithmetic::kSoftplusThreshold) return x;
  return std::log1p(std::exp(x * beta)) / beta;
}

inline double smooth_l1(double d, double beta) {
  return std::fabs(d) < beta ? 0.5 * d * d / beta : std::fabs(d) - beta / 2;
}

inline double huber(double d, double delta) {
  return std::fabs(d) < delta ? d * d / 2 : delta * (std::fabs(d) - delta / 2);
}

// Return -(t log(s) + (1 - t) log(1 - s)), s = sigmoid(x), using log(1 - s) = log(s) - x.
inline double logit_loss(double x, double t) {
  return (1 - t) * x - (x < 0 ? x : 0) + std::log1p(std::exp(-std::fabs(x)));
}

}  // namespace ambit::reference
