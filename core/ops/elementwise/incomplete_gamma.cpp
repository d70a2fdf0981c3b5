// The regularised incomplete gamma functions, and frexp: elementwise on the host, since no kernels
// have these branches. Source of the methods: Cephes' igam.c (Moshier); DLMF 8.7.3, 8.9.2, 8.11.4.
#include <ambit/autograd.h>
#include <ambit/backend/op.h>
#include <ambit/detail/record.h>
#include <ambit/error.h>
#include <ambit/ops/creation.h>
#include <ambit/ops/elementwise.h>
#include <ambit/ops/shape.h>
#include <ambit/ops/special.h>

#include <cmath>
#include <limits>
#include <numbers>

#include "core/ops/operands/allocate.h"
#include "core/ops/operands/broadcast.h"
#include "core/ops/operands/expect.h"
#include "core/ops/operands/operand_grad.h"
#include "core/ops/operands/promote.h"

namespace ambit {
namespace {

constexpr double kEpsilon = std::numeric_limits<double>::epsilon(),
                 kInfinity = std::numeric_limits<double>::infinity(),
                 kNaN = std::numeric_limits<double>::quiet_NaN();

// log(1 + t) - t without cancellation near 0.
double log1p_minus(double t) {
  if (std::abs(t) > 0.2) return std::log1p(t) - t;
  double power = -t * t, sum = 0;
  for (int n = 2; n < 60; ++n, power *= -t) {
    const double next = sum + power / n;
    if (next == sum) break;
    sum = next;
  }
  return sum;
}

// x^a e^-x / Gamma(a). For large a it uses Stirling's series, whose exponents do not cancel.
double factor(double a, double x) {
  if (a < 20) return std::exp(a * std::log(x) - x - std::lgamma(a));
  const double b = 1 / (a * a);
  const double correction =
      (1. / 12 - b * (1. / 360 - b * (1. / 1260 - b * (1. / 1680 - b / 1188)))) / a;
  return std::sqrt(a / (2 * std::numbers::pi)) *
         std::exp(a * log1p_minus((x - a) / a) - correction);
}

// Maximum number of terms: proportional to the standard deviation, sqrt(a).
double most_terms(double a) { return 2000 + 20 * std::sqrt(a); }

// P(a, x) = x^a e^-x / Gamma(a + 1) (1 + x / (a + 1) + x^2 / ((a + 1) (a + 2)) + ...)
double lower_series(double a, double x) {
  double sum = 1, term = 1;
  for (double n = 1; n < most_terms(a); ++n) {
    term *= x / (a + n);
    sum += term;
    if (term <= kEpsilon * sum) break;
  }
  return factor(a, x) * sum / a;
}

// Q(a, x) for small x: 1 - P without cancellation.
double upper_series(double a, double x) {
  double power = 1, sum = 0;
  for (double n = 1; n < 2000; ++n) {
    power *= -x / n;
    const double term = power / (a + n);
    sum += term;
    if (std::abs(term) <= kEpsilon * std::abs(sum)) break;
  }
  const double logx = std::log(x);
  return -std::expm1(a * logx - std::lgamma(1 + a)) - std::exp(a * logx - std::lgamma(a)) * sum;
}

// Q(a, x) by Legendre's continued fraction, for x > a. Source: Lentz's method, Press et al.,
// Numerical Recipes, section 6.2.
double upper_fraction(double a, double x) {
  constexpr double kTiny = 1e-300;
  double b = x + 1 - a, c = 1 / kTiny, d = 1 / b, h = d;
  for (double i = 1; i < most_terms(a); ++i) {
    const double an = -i * (i - a);
    b += 2;
    d = an * d + b;
    if (std::abs(d) < kTiny) d = kTiny;
    c = b + an / c;
    if (std::abs(c) < kTiny) c = kTiny;
    d = 1 / d;
    const double change = d * c;
    h *= change;
    if (std::abs(change - 1) <= kEpsilon) break;
  }
  return factor(a, x) * h;
}

// P(a, x) or Q for an a too large for the series: the normal distribution with the first correction
// term; the next one is O(1 / a^1.5). Source: Temme 1979, DLMF 8.12.3.
double uniform(double a, double x, bool upper) {
  const double t = (x - a) / a, square = -2 * log1p_minus(t);  // eta^2
  const double eta = std::copysign(std::sqrt(square), t), root = std::sqrt(a);
  // Beyond 40 standard deviations the result is 0 or 1. Otherwise eta is small, and 1 / t - 1 /
  // eta, which would cancel, is replaced by its series -1 / 3 + eta / 12.
  if (eta * root > 40 || eta * root < -40) return upper == (t < 0);
  const double correction =
      (eta / 12 - 1. / 3) * std::exp(-0.5 * a * square) / (root * std::sqrt(2 * std::numbers::pi));
  return upper ? 0.5 * std::erfc(eta * root / std::numbers::sqrt2) + correction
               : 0.5 * std::erfc(-eta * root / std::numbers::sqrt2) - correction;
}

bool is_upper_exact(double a, double x) {
  if (x > 1.1) return x >= a;
  return x <= 0.5 ? -0.4 / std::log(x) >= a : x * 1.1 >= a;
}

// P(a, x), or Q = 1 - P if `upper`.
double incomplete_gamma(double a, double x, bool upper) {
  if (!(a >= 0 && x >= 0)) return kNaN;  // also true if a or x is NaN
  if (a == 0) return x > 0 ? static_cast<double>(!upper) : kNaN;
  if (x == 0) return upper;
  if (std::isinf(a)) return std::isinf(x) ? kNaN : static_cast<double>(upper);
  if (std::isinf(x)) return !upper;
  if (a > 1e10) return uniform(a, x, upper);
  if (is_upper_exact(a, x) && (upper || (x > 1 && x > a))) {
    const double q = x > 1.1 ? upper_fraction(a, x) : upper_series(a, x);
    return upper ? q : 1 - q;
  }
  const double p = lower_series(a, x);
  return upper ? 1 - p : p;
}

DType dtype_of(const char* op, const Tensor& self, const Tensor& other) {
  const DType dtype = result_type(self, other);
  return compute_dtype(op, Domain::floats_only, dtype);
}

Tensor on_host(const Tensor& t, IntArrayRef sizes) {
  return t.detach().to(kCPU).to(kFloat64).expand(sizes).contiguous();
}

Tensor compute(const char* op, const Tensor& self, const Tensor& other, bool upper) {
  const Device device =
      check_devices(op, {{"self", self}, {"other", other}}, DeviceRule::elementwise);
  expect_defined(op, "self", self);
  expect_defined(op, "other", other);
  const DType dtype = dtype_of(op, self, other);
  const Dims sizes = broadcast(op, self.sizes(), other.sizes());
  if (device.is_meta()) return allocate(op, sizes, dtype, device);
  const NoGradGuard no_grad;
  const Tensor a = on_host(self, sizes), x = on_host(other, sizes);
  Tensor out = allocate(op, sizes, kFloat64, kCPU);
  const double *pa = a.data_ptr<double>(), *px = x.data_ptr<double>();
  auto* y = out.data_ptr<double>();
  for (int64_t i = 0; i < out.numel(); ++i) y[i] = incomplete_gamma(pa[i], px[i], upper);
  return out.to(dtype).to(device);
}

// dP/dx = x^(a-1) e^-x / Gamma(a) = -dQ/dx; the derivative with respect to a has no closed form.
Tensor gamma_ratio(const char* op, const Tensor& self, const Tensor& other, bool upper) {
  Tensor out = compute(op, self, other, upper);
  if (!needs_gradient(self, other)) return out;
  return record(
      op, std::move(out),
      wrt(self,
          [op](const Tensor&) -> Tensor {
            throw NotImplementedError(
                std::string(op) +
                ": expected no backward for self, got one; its gradient is not implemented");
          }),
      wrt(other,
          [back = ReduceGradTo(other), a = saved(self), x = saved(other), upper](const Tensor& g) {
            const Tensor slope = exp((a() - 1) * log(x()) - x() - lgamma(a()));
            return back(upper ? neg(g) * slope : g * slope);
          }));
}

const Tensor& write(const char* op, const Tensor& self, const Tensor& other, bool upper) {
  check_devices(op, {{"self", self}, {"other", other}}, DeviceRule::in_place_elementwise);
  expect_defined(op, "self", self);
  expect_defined(op, "other", other);
  check_casts_to(op, dtype_of(op, self, other), self.dtype());
  check_broadcasts_to(op, other.sizes(), self.sizes());
  check_in_place(op, self);
  const Tensor kept = needs_gradient(self, other) ? self.clone() : self;
  return copy_(self, gamma_ratio(op, kept, other, upper));
}

}  // namespace

Tensor igamma(const Tensor& self, const Tensor& other) {
  return gamma_ratio("igamma", self, other, false);
}
const Tensor& igamma_(const Tensor& self, const Tensor& other) {
  return write("igamma_", self, other, false);
}
Tensor igammac(const Tensor& self, const Tensor& other) {
  return gamma_ratio("igammac", self, other, true);
}
const Tensor& igammac_(const Tensor& self, const Tensor& other) {
  return write("igammac_", self, other, true);
}

std::tuple<Tensor, Tensor> frexp(const Tensor& self) {
  expect_floating("frexp", self);
  const Device device = self.device();
  Tensor mantissa = allocate("frexp", self.sizes(), kFloat64, device.is_meta() ? device : kCPU);
  Tensor exponent = allocate("frexp", self.sizes(), kInt32, mantissa.device());
  {
    const NoGradGuard no_grad;
    if (!device.is_meta()) {
      const Tensor x = on_host(self, self.sizes());
      const double* p = x.data_ptr<double>();
      auto* m = mantissa.data_ptr<double>();
      auto* e = exponent.data_ptr<int32_t>();
      for (int64_t i = 0; i < x.numel(); ++i) {
        int power = 0;
        m[i] = std::frexp(p[i], &power);
        e[i] = std::isfinite(p[i]) ? power : 0;
      }
    }
    mantissa = mantissa.to(self.dtype()).to(device);
    exponent = exponent.to(device);
  }
  if (!needs_gradient(self)) return {mantissa, exponent};
  return {
      record("frexp", std::move(mantissa),
             wrt(self, [exponent](const Tensor& g) { return g / exp2(exponent.to(g.dtype())); })),
      exponent};
}

}  // namespace ambit
