// Special functions of one element that <cmath> lacks, host or device: in float64, from which
// float32 is rounded once.
#pragma once

#include <ambit/api.h>

#include <cmath>
#include <limits>

namespace ambit::arithmetic {

inline constexpr double kPi = 3.14159265358979323846;

/// y with erf(y) = x. A rational start, then twice Halley's step on erfc, of which no digit cancels
/// where erf is near 1. Source of the start: Giles 2010, "Approximating the erfinv function", its
/// version of single precision.
AMBIT_HOST_DEVICE inline double inverse_erf(double x) {
  const double rest = 1 - std::fabs(x);  // exact from 1/2 on
  if (!(rest >= 0)) return std::numeric_limits<double>::quiet_NaN();
  if (rest == 0) return std::copysign(std::numeric_limits<double>::infinity(), x);
  double w = -std::log(rest * (1 + std::fabs(x))), y;
  if (w < 5) {
    w -= 2.5;
    y = 2.81022636e-08;
    y = 3.43273939e-07 + y * w;
    y = -3.5233877e-06 + y * w;
    y = -4.39150654e-06 + y * w;
    y = 0.00021858087 + y * w;
    y = -0.00125372503 + y * w;
    y = -0.00417768164 + y * w;
    y = 0.246640727 + y * w;
    y = 1.50140941 + y * w;
  } else {
    w = std::sqrt(w) - 3;
    y = -0.000200214257;
    y = 0.000100950558 + y * w;
    y = 0.00134934322 + y * w;
    y = -0.00367342844 + y * w;
    y = 0.00573950773 + y * w;
    y = -0.0076224613 + y * w;
    y = 0.00943887047 + y * w;
    y = 1.00167406 + y * w;
    y = 2.83297682 + y * w;
  }
  y *= std::fabs(x);
  for (int step = 0; step < 2; ++step) {
    const double error = rest < 0.5 ? rest - std::erfc(y) : std::erf(y) - std::fabs(x);
    const double newton = error / (2 / std::sqrt(kPi) * std::exp(-y * y));
    y -= newton / (1 + y * newton);
  }
  return std::copysign(y, x);
}

/// The derivative of log Gamma: reflected to x > 0, moved up to x >= 10, and the asymptotic series.
/// At 0 -inf with 0's sign turned, at -1, -2, ... NaN. Source: Abramowitz & Stegun 1964, 6.3.
AMBIT_HOST_DEVICE inline double digamma(double x) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  if (x == 0) return std::copysign(kInfinity, -x);
  if (x == -kInfinity) return std::numeric_limits<double>::quiet_NaN();
  double sum = 0;
  if (x < 0) {
    const double fraction = x - std::trunc(x);
    if (fraction == 0) return std::numeric_limits<double>::quiet_NaN();
    sum = -kPi / std::tan(kPi * fraction);
    x = 1 - x;
  }
  for (; x < 10; x += 1) sum -= 1 / x;
  const double z = 1 / (x * x);
  double series = 1.0 / 12;
  series = -691.0 / 32760 + z * series;
  series = 1.0 / 132 + z * series;
  series = -1.0 / 240 + z * series;
  series = 1.0 / 252 + z * series;
  series = -1.0 / 120 + z * series;
  series = 1.0 / 12 + z * series;
  return sum + std::log(x) - 0.5 / x - z * series;
}

/// The modified Bessel functions of the first kind: the power series, and far out the asymptotic
/// one, which is good to e^(-2x). Source: Abramowitz & Stegun 1964, 9.6.10 and 9.7.1.
AMBIT_HOST_DEVICE inline double bessel_i(int order, double x) {
  const double r = std::fabs(x);
  if (!(r <= 720)) return x != x ? x : order % 2 ? std::copysign(HUGE_VAL, x) : HUGE_VAL;
  double sum = 1, term = 1;
  if (r < 20) {
    const double q = r * r / 4;
    for (int k = 1; term > 1e-17 * sum; ++k) {
      term *= q / (static_cast<double>(k) * (k + order));
      sum += term;
    }
    return order == 0 ? sum : x / 2 * sum;
  }
  const double mu = 4.0 * order * order;
  for (int k = 1; k < 30 && std::fabs(term) > 1e-17; ++k) {
    const double odd = 2.0 * k - 1;
    term *= (odd * odd - mu) / (8 * k * r);
    sum += term;
  }
  const double half = std::exp(r / 2);  // e^r may overflow where the function does not
  const double value = half * (sum / std::sqrt(2 * kPi * r)) * half;
  return order % 2 ? std::copysign(value, x) : value;
}

/// The Hurwitz zeta function of s > 1 and q > 0: nine terms or more, and Euler and Maclaurin's
/// rest.
AMBIT_HOST_DEVICE inline double zeta_of_positive(double s, double q) {
  double sum = 0;
  for (int k = 0; k < 9 || q < 9; ++k, q += 1) {
    const double term = std::pow(q, -s);
    sum += term;
    if (term < 1e-17 * sum) return sum;
  }
  // B_2k / (2k)!
  constexpr double kBernoulli[] = {1.0 / 12,
                                   -1.0 / 720,
                                   1.0 / 30240,
                                   -1.0 / 1209600,
                                   1.0 / 47900160,
                                   -691.0 / 1307674368000,
                                   1.0 / 74724249600,
                                   -3617.0 / 10670622842880000,
                                   43867.0 / 5109094217170944000,
                                   -174611.0 / 802857662698291200000.0};
  const double edge = std::pow(q, -s);
  sum += edge * q / (s - 1) + edge / 2;
  double factor = s * edge / q;
  for (int k = 0; k < 10; ++k) {
    const double term = kBernoulli[k] * factor;
    sum += term;
    if (std::fabs(term) < 1e-17 * std::fabs(sum)) break;
    factor *= (s + 2 * k + 1) * (s + 2 * k + 2) / (q * q);
  }
  return sum;
}

/// The Hurwitz zeta function, sum over k >= 0 of (k + q)^-s: inf for s = 1 and at q = 0, -1, ...,
/// NaN for s < 1, and for other q < 0 where s is not whole. Below 0 the terms of either sign are
/// two such sums from the two numbers next to 0 on.
AMBIT_HOST_DEVICE inline double zeta(double s, double q) {
  constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
  if (s == 1) return std::numeric_limits<double>::infinity();
  if (!(s > 1) || q != q) return kNaN;
  if (q > 0) return zeta_of_positive(s, q);
  if (q == std::floor(q)) return std::numeric_limits<double>::infinity();
  if (s != std::floor(s)) return kNaN;
  const double below = std::trunc(q) - q;  // what the last negative term is away from 0
  const double negative = zeta_of_positive(s, below) - zeta_of_positive(s, 1 - q);
  return zeta_of_positive(s, 1 - below) + (std::fmod(s, 2) == 0 ? negative : -negative);
}

/// sin(pi x) / (pi x), 1 at 0.
AMBIT_HOST_DEVICE inline double sine_cardinal(double x) {
  return x == 0 ? 1 : std::sin(kPi * x) / (kPi * x);
}

}  // namespace ambit::arithmetic
