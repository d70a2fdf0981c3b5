// The algorithms are slow and simple: bisection, power series, and sums with so many terms that a
// short asymptotic series suffices for the rest. Formulas: Abramowitz & Stegun 1964.
#include "special_functions.h"

#include <cmath>
#include <limits>
#include <numbers>

namespace ambit::reference {
namespace {

constexpr long double kPi = std::numbers::pi_v<long double>;
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

// Uses the recurrence 6.3.16 up to x >= 60, then 6.3.18.
long double digamma_of_positive(long double x) {
  long double sum = 0;
  for (; x < 60; x += 1) sum -= 1 / x;
  const long double z = 1 / (x * x);
  return sum + std::log(x) - 1 / (2 * x) -
         z * (1.0L / 12 - z * (1.0L / 120 - z * (1.0L / 252 - z * (1.0L / 240 - z / 132))));
}

// Sums 20 terms, then uses the Euler-Maclaurin formula 23.1.30.
long double zeta_of_positive(long double s, long double q) {
  // (2k)! / B_2k; 23.1.3
  constexpr long double kDivisors[] = {12,          -720,
                                       30240,       -1209600,
                                       47900160,    -1307674368000.0L / 691,
                                       74724249600, -10670622842880000.0L / 3617};
  long double sum = 0;
  for (int k = 0; k < 20; ++k, q += 1) sum += std::pow(q, -s);
  if (std::isinf(q)) return sum;
  const long double edge = std::pow(q, -s), z = 1 / (q * q);
  long double rest = q / (s - 1) + 0.5L, rising = s / q;
  for (const long double divisor : kDivisors) {
    rest += rising / divisor;
    rising *= (s + 1) * (s + 2) * z;
    s += 2;
  }
  return sum + edge * rest;
}

}  // namespace

double inverse_erf(double x) {
  const long double target = std::fabs(static_cast<long double>(x));
  if (!(target <= 1)) return kNaN;
  if (target == 1) return std::copysign(kInfinity, x);
  if (target < 1e-6L) {
    const long double a = std::sqrt(kPi) / 2 * x;
    return static_cast<double>(a + a * a * a / 3);
  }
  long double low = 0, high = 7;
  for (int i = 0; i < 90; ++i) {
    const long double middle = (low + high) / 2;
    const bool beyond = target < 0.5L ? std::erf(middle) > target : std::erfc(middle) < 1 - target;
    (beyond ? high : low) = middle;
  }
  return std::copysign(static_cast<double>(low), x);
}

double digamma(double x) {
  if (x == 0) return std::copysign(kInfinity, -x);
  if (x > 0 || std::isnan(x)) return static_cast<double>(digamma_of_positive(x));
  if (x == std::floor(x)) return kNaN;  // also for -inf
  const long double fraction = static_cast<long double>(x) - std::round(x);
  return static_cast<double>(digamma_of_positive(1 - static_cast<long double>(x)) -
                             kPi / std::tan(kPi * fraction));
}

namespace {

// The series 9.6.10, whose terms all have the same sign.
long double bessel_i_series(int order, double x) {
  const long double half = static_cast<long double>(x) / 2;
  long double term = order == 0 ? 1 : half, sum = 0;
  for (int k = 1; k == 1 || std::fabs(term) > 1e-25L * std::fabs(sum); ++k) {
    sum += term;
    term *= half * half / (static_cast<long double>(k) * (k + order));
    if (term == 0) break;
  }
  return sum;
}

}  // namespace

double bessel_i(int order, double x) {
  if (std::isnan(x)) return x;
  if (x == 0) return order == 0 ? 1 : x;
  if (std::fabs(x) > 800) return order % 2 ? std::copysign(kInfinity, x) : kInfinity;
  return static_cast<double>(bessel_i_series(order, x));
}

// Uses 9.7.1 from x = 200 on.
double scaled_bessel_i(int order, double x) {
  if (std::isnan(x)) return x;
  if (x == 0) return order == 0 ? 1 : x;
  const long double r = std::fabs(static_cast<long double>(x));
  if (r < 200) return static_cast<double>(bessel_i_series(order, x) * std::exp(-r));
  long double term = 1, sum = 1;
  for (int k = 1; k < 12; ++k) {
    const int odd = 2 * k - 1;
    term *= -(4.0L * order - odd * odd) / (k * 8 * r);
    sum += term;
  }
  sum /= std::sqrt(2 * kPi * r);
  return static_cast<double>(order % 2 ? std::copysign(sum, static_cast<long double>(x)) : sum);
}

// Uses the continued fraction 7.1.14 from x = 20 on.
double scaled_erfc(double x) {
  const long double at = x;
  if (x < 20 || std::isnan(x)) return static_cast<double>(std::exp(at * at) * std::erfc(at));
  long double fraction = at;
  for (int k = 60; k > 0; --k) fraction = at + k / 2.0L / fraction;
  return static_cast<double>(1 / (fraction * std::sqrt(kPi)));
}

double inverse_normal_cdf(double p) {
  if (!(p >= 0 && p <= 1)) return kNaN;
  if (p == 0 || p == 1) return p == 0 ? -kInfinity : kInfinity;
  const long double tail = p < 0.5 ? p : 1 - static_cast<long double>(p);
  long double low = 0, high = 40;  // Phi(-40) is below the smallest positive number
  for (int i = 0; i < 90; ++i) {
    const long double middle = (low + high) / 2;
    (std::erfc(middle / std::numbers::sqrt2_v<long double>) / 2 > tail ? low : high) = middle;
  }
  return static_cast<double>(p < 0.5 ? -low : low);
}

double zeta(double s, double q) {
  if (s == 1) return kInfinity;  // also if q is NaN, as in PyTorch
  if (std::isnan(s) || std::isnan(q)) return kNaN;
  if (s < 1) return kNaN;
  if (std::isinf(s)) return q > 1 ? 0 : q == 1 ? 1 : q > 0 ? kInfinity : kNaN;
  if (q > 0) return static_cast<double>(zeta_of_positive(s, q));
  if (q == std::floor(q)) return kInfinity;
  if (s != std::floor(s)) return kNaN;
  // Apart from signs, the terms with k + q < 0 run from the distance to 0 up to -q.
  const long double distance = std::trunc(q) - static_cast<long double>(q);
  const long double below =
      zeta_of_positive(s, distance) - zeta_of_positive(s, 1 - static_cast<long double>(q));
  const long double sign = std::fmod(s, 2) == 0 ? 1 : -1;
  return static_cast<double>(sign * below + zeta_of_positive(s, 1 - distance));
}

double sinc(double x) {
  if (x == 0) return 1;
  // Reduce x by whole periods of sin(pi x), which is exact: integers give 0.
  const long double of = std::remainder(static_cast<long double>(x), 2.0L);
  const long double folded = of > 0.5L ? 1 - of : of < -0.5L ? -1 - of : of;
  return static_cast<double>(std::sin(kPi * folded) / (kPi * static_cast<long double>(x)));
}

}  // namespace ambit::reference
