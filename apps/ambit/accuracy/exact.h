// Exact values of maps and of their derivatives, in double for results of at most 32 bits and in
// long double for double. The error is a few units in the last place of W, in the tails at most
// 100. For results of float this is less than 1e-6 units in the last place. Where long double has
// 64 bits, figures for double are uncertain by up to 0.05 units; where it is double, they are not
// measured.
#pragma once

#include <cmath>
#include <numbers>

namespace accuracy {

template <class W>
inline constexpr W kSqrtHalf = std::numbers::sqrt2_v<W> / 2;
/// The factor 2 sqrt(2 / pi) of gelu_tanh.
template <class W>
inline constexpr W kGeluSlope = W(2) * std::numbers::sqrt2_v<W>* std::numbers::inv_sqrtpi_v<W>;
template <class W>
inline constexpr W kGeluCube = W(0.044715L);
inline constexpr double kSeluScale = 1.0507009873554804934193349852946;
inline constexpr double kSeluAlpha = 1.6732632423543772848170429916717;

template <class W>
W sigmoid(W x) {
  const W e = std::exp(-std::fabs(x));
  return (x < 0 ? e : W(1)) / (1 + e);
}
/// e^(-x^2 / 2) / sqrt(2 pi). The square is split, so that its rounding does not matter.
template <class W>
W normal_density(W x) {
  const W square = x * x, rest = std::fma(x, x, -square);
  return std::exp(-square / 2) * (1 - rest / 2) * std::numbers::inv_sqrtpi_v<W> * kSqrtHalf<W>;
}
template <class W>
W normal_cdf(W x) {
  const W z = -x * kSqrtHalf<W>, tail = std::erfc(z) / 2;
  if (z < 1 || std::isinf(z)) return tail;
  // For large z, the relative change is -2 z times the rounding error of z.
  const W rest = std::fma(-x, kSqrtHalf<W>, -z);
  return tail * (1 - 2 * z * rest);
}
template <class W>
W gelu_tanh_logit(W x) {
  return kGeluSlope<W> * x * (1 + kGeluCube<W> * x * x);
}
template <class W>
W gelu_tanh_derivative(W x) {
  const W u = gelu_tanh_logit(x), s = sigmoid(u),
          v = kGeluSlope<W> * (1 + 3 * kGeluCube<W> * x * x);
  return std::isinf(u) ? W(x > 0) : s * (1 + sigmoid(-u) * x * v);
}
template <class W>
W softplus(W x) {
  return std::fmax(x, W(0)) + std::log1p(std::exp(-std::fabs(x)));
}
template <class W>
W mish_gate(W x) {
  return std::tanh(softplus(x));
}
template <class W>
W mish_derivative(W x) {
  const W gate = mish_gate(x), sech = 1 / std::cosh(softplus(x));
  return gate + (sech == 0 ? 0 : x * sigmoid(x) * sech * sech);
}
/// x s(x), where s tends to 0 as x tends to minus infinity.
template <class W>
W times(W x, W factor) {
  return factor == 0 ? std::copysign(W(0), x) : x * factor;
}
template <class W>
W logit(W x) {
  // Near 1/2 the quotient is nearly 1, so use 2 x - 1, which is exact.
  if (x > W(0.25) && x < W(0.75)) return std::log1p((2 * x - 1) / (1 - x));
  return std::log(x) - std::log1p(-x);
}
template <class W>
W sine_of_pi(W x) {
  const W turns = std::remainder(x, W(2));
  const W within = std::fabs(turns) > W(0.5) ? std::copysign(W(1), turns) - turns : turns;
  return std::sin(std::numbers::pi_v<W> * within);
}
template <class W>
W sine_cardinal(W x) {
  if (x == 0) return 1;
  return std::isinf(x) ? W(NAN) : sine_of_pi(x) / (std::numbers::pi_v<W> * x);
}
/// Uses the recurrence up to 20, then the asymptotic series; always in long double, because terms
/// cancel near the zeros.
template <class W>
W digamma(W argument) {
  long double x = argument, sum = 0;
  if (x == 0) return std::copysign(W(INFINITY), -argument);
  if (x < 0) {
    if (x == std::floor(x) || std::isinf(x)) return W(NAN);
    const long double part = x - std::round(x), pi = std::numbers::pi_v<long double>;
    sum = -pi / std::tan(pi * part);
    x = 1 - x;
  }
  for (; x < 20; x += 1) sum -= 1 / x;
  const long double w = 1 / (x * x);
  const long double tail =
      w * (1 / 12.0L -
           w * (1 / 120.0L -
                w * (1 / 252.0L -
                     w * (1 / 240.0L - w * (1 / 132.0L - w * (691 / 32760.0L - w / 12.0L))))));
  return static_cast<W>(sum + std::log(x) - 0.5L / x - tail);
}

}  // namespace accuracy
