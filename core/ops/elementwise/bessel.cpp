// Bessel and Airy functions. Bessel functions of the first and second kind are those of the C
// library.
#include <ambit/ops/bessel.h>

#include <ambit/ops/elementwise.h>
#include <ambit/ops/special.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "by_host.h"

namespace ambit {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity(),
                 kNaN = std::numeric_limits<double>::quiet_NaN();

double y0_of(double x) { return x < 0 ? kNaN : x == 0 ? -kInfinity : ::y0(x); }
double y1_of(double x) { return x < 0 ? kNaN : x == 0 ? -kInfinity : ::y1(x); }
double sinc_of(double x) { return x == 0 ? 1 : std::isinf(x) ? 0 : std::sin(x) / x; }

// e^x K_order(x) for x > 1, the integral over t >= 0 of exp(-x (cosh(t) - 1)) cosh(order t). The
// trapezoidal rule converges exponentially; the step follows the width of the integrand.
double scaled_k(double order, double x) {
  const double step = std::min(0.125, 0.5 / std::sqrt(x));
  double sum = 0.5;
  for (int i = 1;; ++i) {
    const double t = step * i, half = std::sinh(t / 2);
    const double term = std::exp(-2 * x * half * half) * std::cosh(order * t);
    sum += term;
    if (term < 1e-18 * sum) return step * sum;
  }
}

// K_0 and K_1 for 0 < x <= 1 by their series about 0. Source: DLMF 10.31.1, 10.31.2.
double small_k0(double x) {
  const double q = x * x / 4, start = -std::log(x / 2) - std::numbers::egamma;
  double term = 1, harmonic = 0, sum = start;
  for (int k = 1; k < 20; ++k) {
    term *= q / (k * k);
    harmonic += 1. / k;
    sum += term * (start + harmonic);
  }
  return sum;
}

double small_k1(double x) {
  const double q = x * x / 4, log_of_half = std::log(x / 2);
  // psi(k + 1) + psi(k + 2), from k = 0
  double term = x / 2, digammas = 1 - 2 * std::numbers::egamma, sum = 1 / x;
  for (int k = 0; k < 20; ++k) {
    sum += term * (log_of_half - digammas / 2);
    digammas += 1. / (k + 1) + 1. / (k + 2);
    term *= q / ((k + 1.) * (k + 2.));
  }
  return sum;
}

template <bool one, bool scaled>
double k_of(double x) {
  if (!(x > 0)) return x == 0 ? kInfinity : kNaN;
  if (std::isinf(x)) return 0;
  if (x > 1) return scaled_k(one, x) * (scaled ? 1 : std::exp(-x));
  return (one ? small_k1(x) : small_k0(x)) * (scaled ? std::exp(x) : 1);
}

/// The value of Ai and its derivative at a point.
struct Airy {
  double value, slope;
};

// Continue from x to x + h by the Taylor series; y'' = x y gives its coefficients: k (k - 1) c_k =
// x c_k-2 + c_k-3.
Airy moved(const Airy& at, double x, double h) {
  double before = 0, c0 = at.value, c1 = at.slope, power = h;
  Airy to{at.value + at.slope * h, at.slope};
  for (int k = 2; k < 40; ++k) {
    const double c2 = (x * c0 + before) / (k * (k - 1.));
    to.slope += k * c2 * power;
    power *= h;
    to.value += c2 * power;
    before = c0, c0 = c1, c1 = c2;
  }
  return to;
}

// Ai(-x) for x >= 9. Source: DLMF 9.7.9.
double far_negative(double x) {
  const double zeta = 2 * x * std::sqrt(x) / 3, phase = zeta - std::numbers::pi / 4;
  double u = 1, sums[2] = {1, 0};
  for (int k = 1; k < 24; ++k) {
    u *= (6. * k - 5) * (6. * k - 3) * (6. * k - 1) / (216. * k * (2. * k - 1) * zeta);
    sums[k % 2] += k % 4 < 2 ? u : -u;
  }
  return (std::cos(phase) * sums[0] + std::sin(phase) * sums[1]) /
         (std::sqrt(std::numbers::pi) * std::sqrt(std::sqrt(x)));
}

double airy_of(double x) {
  if (std::isnan(x)) return x;
  if (std::isinf(x)) return 0;
  if (x < -9) return far_negative(-x);
  if (x > 1) {
    const double zeta = 2 * x * std::sqrt(x) / 3;
    if (zeta > 1) {
      return std::sqrt(x / 3) / std::numbers::pi * scaled_k(1. / 3, zeta) * std::exp(-zeta);
    }
  }
  Airy at{0.355028053887817239260, -0.258819403792806798405};  // at 0: DLMF 9.2.3, 9.2.4
  double from = 0;
  while (from != x) {
    const double h = std::clamp(x - from, -0.5, 0.5);
    at = moved(at, from, h);
    from = std::abs(x - from) <= 0.5 ? x : from + h;
  }
  return at.value;
}

}  // namespace

#define AMBIT_DEFINE(name, f) \
  Tensor special_##name(const Tensor& self) { return by_host("special_" #name, self, f); }
AMBIT_DEFINE(airy_ai, airy_of)
AMBIT_DEFINE(bessel_j0, ::j0)
AMBIT_DEFINE(bessel_j1, ::j1)
AMBIT_DEFINE(bessel_y0, y0_of)
AMBIT_DEFINE(bessel_y1, y1_of)
AMBIT_DEFINE(modified_bessel_k0, (k_of<false, false>))
AMBIT_DEFINE(modified_bessel_k1, (k_of<true, false>))
AMBIT_DEFINE(scaled_modified_bessel_k0, (k_of<false, true>))
AMBIT_DEFINE(scaled_modified_bessel_k1, (k_of<true, true>))
AMBIT_DEFINE(spherical_bessel_j0, sinc_of)
#undef AMBIT_DEFINE

Tensor special_modified_bessel_i0(const Tensor& self) {
  if (!self.defined()) return by_host("special_modified_bessel_i0", self, nullptr);
  return i0(self);
}
Tensor special_modified_bessel_i1(const Tensor& self) {
  if (!self.defined()) return by_host("special_modified_bessel_i1", self, nullptr);
  return special_i1(self);
}

}  // namespace ambit
