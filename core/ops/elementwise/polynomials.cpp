// Orthogonal polynomials by their recurrences. Source: Abramowitz & Stegun, chapter 22.
#include <ambit/ops/bessel.h>

#include <cmath>
#include <limits>

#include "by_host.h"
#include "core/ops/operands/scalar_operand.h"

namespace ambit {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

bool is_even(double n) { return std::fmod(n, 2) == 0; }

/// Chebyshev's polynomials of the four kinds have one recurrence, p(n + 1) = 2 x p(n) - p(n - 1).
enum class Chebyshev { t, u, v, w };

// p(1), where p(0) = 1.
double first(Chebyshev kind, double x) {
  return kind == Chebyshev::t ? x : 2 * x + (kind == Chebyshev::w) - (kind == Chebyshev::v);
}

// The values at x = 1: t is 1, u is n + 1. The values at -1 follow from them, with v(-x) = (-1)^n
// w(x).
double at_end(Chebyshev kind, double x, double n) {
  const double sign = x < 0 && !is_even(n) ? -1 : 1;
  const bool grows = kind == (x > 0 ? Chebyshev::w : Chebyshev::v);
  if (kind == Chebyshev::u) return sign * (n + 1);
  return sign * (grows ? 2 * n + 1 : 1);
}

// Evaluate by x = cos(a), for |x| < 1.
double by_angle(Chebyshev kind, double x, double n) {
  const double a = std::acos(x);
  switch (kind) {
    case Chebyshev::t:
      return std::cos(n * a);
    case Chebyshev::u:
      return std::sin((n + 1) * a) / std::sin(a);
    case Chebyshev::v:
      return std::cos((n + 0.5) * a) / std::cos(a / 2);
    case Chebyshev::w:
      break;
  }
  return std::sin((n + 0.5) * a) / std::sin(a / 2);
}

template <Chebyshev kind>
double chebyshev(double x, double degree) {
  const double n = std::trunc(degree);
  if (!(n >= 0)) return std::isnan(n) ? n : 0;
  if (std::abs(x) == 1) return at_end(kind, x, n);
  if (n > 8 && std::abs(x) < 1) return by_angle(kind, x, n);
  double before = 1, now = n == 0 ? 1 : first(kind, x);
  for (double k = 1; k < n && !std::isnan(now); ++k) {
    const double next = 2 * x * now - before;
    before = now, now = next;
    if (std::isinf(now)) return x < 0 && !is_even(n) ? -kInfinity : kInfinity;
  }
  return now;
}

template <Chebyshev kind>
double shifted(double x, double n) {
  return chebyshev<kind>(2 * x - 1, n);
}

// p(0) = 1, p(1) = start, p(k + 1) = step(k, p(k), p(k - 1)).
template <class Step>
double recurrence(double degree, double start, const Step& step) {
  const double n = std::trunc(degree);
  if (!(n >= 0)) return std::isnan(n) ? n : 0;
  if (n == 0) return 1;
  double before = 1, now = start;
  for (double k = 1; k < n && !std::isnan(now); ++k) {
    const double next = step(k, now, before);
    before = now, now = next;
  }
  return now;
}

double hermite_h(double x, double n) {
  return recurrence(n, 2 * x, [x](double k, double p, double q) { return 2 * (x * p - k * q); });
}
double hermite_he(double x, double n) {
  return recurrence(n, x, [x](double k, double p, double q) { return x * p - k * q; });
}
double laguerre(double x, double n) {
  if (x == 0 && n >= 0) return 1;
  return recurrence(n, 1 - x, [x](double k, double p, double q) {
    return ((2 * k + 1 - x) * p - k * q) / (k + 1);
  });
}
double legendre(double x, double n) {
  if (std::abs(x) == 1 && n >= 0) return x > 0 || is_even(std::trunc(n)) ? 1 : -1;
  return recurrence(
      n, x, [x](double k, double p, double q) { return ((2 * k + 1) * x * p - k * q) / (k + 1); });
}

// Return a number as a tensor whose dtype does not promote that of `other`.
Tensor number(const Scalar& s, const Tensor& other) {
  const bool floats = other.defined() && other.is_floating_point();
  return scalar_on(s,
                   floats                  ? other.dtype()
                   : s.dtype() == kFloat64 ? get_default_dtype()
                                           : s.dtype(),
                   kCPU);
}

}  // namespace

#define AMBIT_DEFINE(name, f)                               \
  Tensor special_##name(const Tensor& x, const Tensor& n) { \
    return by_host("special_" #name, x, n, f);              \
  }                                                         \
  Tensor special_##name(const Scalar& x, const Tensor& n) { \
    return special_##name(number(x, n), n);                 \
  }                                                         \
  Tensor special_##name(const Tensor& x, const Scalar& n) { \
    return special_##name(x, number(n, x));                 \
  }
AMBIT_DEFINE(chebyshev_polynomial_t, chebyshev<Chebyshev::t>)
AMBIT_DEFINE(chebyshev_polynomial_u, chebyshev<Chebyshev::u>)
AMBIT_DEFINE(chebyshev_polynomial_v, chebyshev<Chebyshev::v>)
AMBIT_DEFINE(chebyshev_polynomial_w, chebyshev<Chebyshev::w>)
AMBIT_DEFINE(hermite_polynomial_h, hermite_h)
AMBIT_DEFINE(hermite_polynomial_he, hermite_he)
AMBIT_DEFINE(laguerre_polynomial_l, laguerre)
AMBIT_DEFINE(legendre_polynomial_p, legendre)
AMBIT_DEFINE(shifted_chebyshev_polynomial_t, shifted<Chebyshev::t>)
AMBIT_DEFINE(shifted_chebyshev_polynomial_u, shifted<Chebyshev::u>)
AMBIT_DEFINE(shifted_chebyshev_polynomial_v, shifted<Chebyshev::v>)
AMBIT_DEFINE(shifted_chebyshev_polynomial_w, shifted<Chebyshev::w>)
#undef AMBIT_DEFINE

}  // namespace ambit
