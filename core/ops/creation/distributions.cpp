// Distributions computed from uniform or normal numbers by other ops. Poisson and binomial run on
// the host instead, since they need a variable count of numbers.
#include <ambit/backend/kernels.h>
#include <ambit/backend/philox.h>
#include <ambit/detail/expect_all.h>
#include <ambit/detail/record.h>
#include <ambit/error.h>
#include <ambit/ops/creation.h>
#include <ambit/ops/elementwise.h>
#include <ambit/ops/random.h>
#include <ambit/ops/reduce.h>
#include <ambit/ops/shape.h>
#include <fmt/format.h>

#include <array>
#include <cmath>
#include <numbers>

#include "core/ops/operands/broadcast.h"
#include "core/ops/operands/expect.h"
#include "core/ops/operands/operand_grad.h"
#include "stream.h"

namespace ambit {
namespace {

using Stream = std::optional<Generator>;

void expect_floats(const char* op, const Tensor& self) {
  expect_defined(op, "self", self);
  if (!self.is_floating_point()) throw_not_floating(op, self.dtype());
}

// Write the numbers that make() returns to self, which gets zero gradient.
template <class Make>
const Tensor& put(const char* op, const char* name, const Tensor& self, const Make& make) {
  check_in_place(op, self);
  {
    const NoGradGuard no_grad;
    Tensor y = self;
    kernels::copy(y, make());
  }
  record_in_place(name, self, wrt(self, ZerosLike(self)));
  return self;
}

void expect_positive(const char* op, const char* argument, double value) {
  if (!(value > 0)) throw Error(fmt::format("{}: expected {} > 0, got {}", op, argument, value));
}

}  // namespace

const Tensor& exponential_(const Tensor& self, double lambd, const Stream& generator) {
  expect_floats("exponential_", self);
  expect_positive("exponential_", "lambd", lambd);
  return put("exponential_", "exponential", self, [&] {
    const Tensor u = rand(self.sizes(), generator, self.options());
    return u.neg_().log1p_().mul_(-1 / lambd);
  });
}

const Tensor& geometric_(const Tensor& self, double p, const Stream& generator) {
  expect_defined("geometric_", "self", self);
  expect_numbers("geometric_", self);
  if (!(p > 0 && p < 1)) {
    throw Error(fmt::format("geometric_: expected a probability in (0, 1), got {}", p));
  }
  return put("geometric_", "geometric", self, [&] {
    const DType dtype = self.is_floating_point() ? self.dtype() : kFloat64;
    const Tensor u = rand(self.sizes(), generator, self.options().dtype(dtype));
    return u.neg_().log1p_().div_(std::log1p(-p)).floor_().add_(1);
  });
}

const Tensor& cauchy_(const Tensor& self, double median, double sigma, const Stream& generator) {
  expect_floats("cauchy_", self);
  expect_positive("cauchy_", "sigma", sigma);
  return put("cauchy_", "cauchy", self, [&] {
    const Tensor u = rand(self.sizes(), generator, self.options());
    return u.sub_(0.5).mul_(std::numbers::pi).tan_().mul_(sigma).add_(median);
  });
}

const Tensor& log_normal_(const Tensor& self, double mean, double std, const Stream& generator) {
  expect_floats("log_normal_", self);
  expect_positive("log_normal_", "std", std);
  return put("log_normal_", "log_normal", self,
             [&] { return normal(mean, std, self.sizes(), generator, self.options()).exp_(); });
}

Tensor bernoulli(const Tensor& self, const Tensor& p, const Stream& generator) {
  check_devices("bernoulli", {{"self", self}, {"p", p}}, DeviceRule::in_place_elementwise);
  expect_defined("bernoulli", "self", self);
  expect_defined("bernoulli", "p", p);
  check_broadcasts_to("bernoulli", p.sizes(), self.sizes());
  const NoGradGuard no_grad;
  return bernoulli(expand(p.to(self.device()), self.sizes()), generator).to(self.dtype());
}

const Tensor& bernoulli_(const Tensor& self, const Tensor& p, const Stream& generator) {
  check_devices("bernoulli_", {{"self", self}, {"p", p}}, DeviceRule::in_place_elementwise);
  expect_defined("bernoulli_", "self", self);
  expect_defined("bernoulli_", "p", p);
  check_broadcasts_to("bernoulli_", p.sizes(), self.sizes());
  return put("bernoulli_", "bernoulli", self,
             [&] { return bernoulli(expand(p.to(self.device()), self.sizes()), generator); });
}

namespace {

void expect_deviations(const Tensor& std) {
  expect_floats("normal", std);
  expect_all(std >= 0, "normal: expected all elements of std >= 0, got one that is not");
}

}  // namespace

Tensor normal(double mean, double std, IntArrayRef sizes, const Stream& generator,
              const TensorOptions& options) {
  Tensor out = empty(sizes, options);
  const bool requires_grad = out.requires_grad();
  {
    const NoGradGuard no_grad;
    normal_(out, mean, std, generator);
  }
  return requires_grad ? out.requires_grad_() : out;
}

Tensor normal(const Tensor& mean, double std, const Stream& generator) {
  if (!mean.defined() || !mean.is_complex()) expect_floats("normal", mean);
  const NoGradGuard no_grad;
  return normal(0, std, mean.sizes(), generator, mean.options()).add_(mean);
}

Tensor normal(double mean, const Tensor& std, const Stream& generator) {
  const NoGradGuard no_grad;
  expect_deviations(std);
  return randn(std.sizes(), generator, std.options()).mul_(std).add_(mean);
}

Tensor normal(const Tensor& mean, const Tensor& std, const Stream& generator) {
  const Device device =
      check_devices("normal", {{"mean", mean}, {"std", std}}, DeviceRule::elementwise);
  if (!mean.defined() || !mean.is_complex()) expect_floats("normal", mean);
  const Dims sizes = broadcast("normal", mean.sizes(), std.defined() ? std.sizes() : IntArrayRef());
  const NoGradGuard no_grad;
  expect_deviations(std);
  const TensorOptions options = TensorOptions(result_type(mean, std)).device(device);
  return randn(sizes, generator, options).mul_(std).add_(mean);
}

namespace {

// The random numbers of one element: its own stream, seeded from the generator.
class Uniforms {
 public:
  explicit Uniforms(uint64_t seed) : seed_(seed) {}
  // In (0, 1].
  double next() {
    if (at_ % 2 == 0) block_ = philox::generate(seed_, at_ / 2);
    return 1 - philox::to_unit(philox::bits64(block_, at_++ % 2));
  }

 private:
  uint64_t seed_, at_ = 0;
  philox::Block block_{};
};

constexpr double kLargeRate = 10;

// For rates below 10: return the first count whose cumulative probability is above the uniform
// number u in [0, 1).
double small_poisson(double rate, double u) {
  constexpr size_t kMost = 100;  // higher counts have a negligible probability
  static constexpr auto kInverse = [] {
    std::array<double, kMost> inverse{};
    for (size_t k = 1; k < kMost; ++k) inverse[k] = 1 / static_cast<double>(k);
    return inverse;
  }();
  size_t count = 0;
  double chance = std::exp(-rate);
  for (double sum = chance; u >= sum && count + 1 < kMost; sum += chance) {
    chance *= rate * kInverse[++count];
  }
  return static_cast<double>(count);
}

// Hörmann's algorithm PTRS, for rates of 10 and more.
double large_poisson(double rate, Uniforms& uniforms) {
  const double log_rate = std::log(rate);
  const double b = 0.931 + 2.53 * std::sqrt(rate), a = -0.059 + 0.02483 * b;
  const double inverse_alpha = 1.1239 + 1.1328 / (b - 3.4), v_r = 0.9277 - 3.6224 / (b - 2);
  while (true) {
    const double u = uniforms.next() - 0.5, v = uniforms.next(), u_s = 0.5 - std::fabs(u);
    const double k = std::floor((2 * a / u_s + b) * u + rate + 0.43);
    if (u_s >= 0.07 && v <= v_r) return k;
    if (k < 0 || (u_s < 0.013 && v > u_s)) continue;
    const double chance = std::log(v) + std::log(inverse_alpha) - std::log(a / (u_s * u_s) + b);
    if (chance <= -rate + k * log_rate - std::lgamma(k + 1)) return k;
  }
}

}  // namespace

Tensor poisson(const Tensor& self, const Stream& given) {
  expect_floats("poisson", self);
  const NoGradGuard no_grad;
  if (self.is_meta()) return empty_like(self);
  const Tensor rates = self.to(kCPU, kFloat64).contiguous(), counts = empty_like(rates);
  const auto* rate = rates.data_ptr<double>();
  auto* count = counts.data_ptr<double>();
  const int64_t n = rates.numel();
  for (int64_t i = 0; i < n; ++i) {
    if (!(rate[i] >= 0 && std::isfinite(rate[i]))) {
      throw Error(fmt::format("poisson: expected finite rates >= 0, got {}", rate[i]));
    }
  }
  const Generator generator = stream_for("poisson", self.device(), given);
  const uint64_t seed = generator.seed(), offset = generator.advance(static_cast<uint64_t>(n));
  for (int64_t i = 0; i < n; ++i) {
    const auto block = philox::generate(seed, offset + static_cast<uint64_t>(i));
    if (rate[i] < kLargeRate) {
      count[i] = small_poisson(rate[i], philox::to_unit(philox::bits64(block, 0)));
    } else {
      Uniforms uniforms(philox::bits64(block, 0));
      count[i] = large_poisson(rate[i], uniforms);
    }
  }
  return counts.to(self.device(), self.dtype());
}

namespace {

// Draw a binomial number with a mean below 10: sum the geometric distances between successes until
// the trials are used up.
double few_successes(double trials, double chance, Uniforms& uniforms) {
  const double log_failure = std::log1p(-chance);
  double successes = 0;
  for (double used = 0;; ++successes) {
    used += std::ceil(std::log(uniforms.next()) / log_failure);
    if (!(used <= trials)) return successes;
  }
}

// Draw a binomial number with a larger mean; `chance` is at most 1/2. Source: Hörmann 1993, "The
// generation of binomial random variates", algorithm BTRS, with acceptance by the exact density.
double many_successes(double trials, double chance, Uniforms& uniforms) {
  const double deviation = std::sqrt(trials * chance * (1 - chance));
  const double b = 1.15 + 2.53 * deviation, a = -0.0873 + 0.0248 * b + 0.01 * chance;
  const double center = trials * chance + 0.5, v_r = 0.92 - 4.2 / b;
  const double alpha = (2.83 + 5.1 / b) * deviation, log_odds = std::log(chance / (1 - chance));
  const double mode = std::floor((trials + 1) * chance);
  const auto log_ways = [&](double k) { return -std::lgamma(k + 1) - std::lgamma(trials - k + 1); };
  while (true) {
    const double u = uniforms.next() - 0.5, v = uniforms.next(), u_s = 0.5 - std::fabs(u);
    const double k = std::floor((2 * a / u_s + b) * u + center);
    if (!(k >= 0 && k <= trials)) continue;
    if (u_s >= 0.07 && v <= v_r) return k;
    const double log_v = std::log(v * alpha / (a / (u_s * u_s) + b));
    if (log_v <= log_ways(k) - log_ways(mode) + (k - mode) * log_odds) return k;
  }
}

double successes(double trials, double chance, Uniforms& uniforms) {
  if (chance > 0.5) return trials - successes(trials, 1 - chance, uniforms);
  return trials * chance < 10 ? few_successes(trials, chance, uniforms)
                              : many_successes(trials, chance, uniforms);
}

}  // namespace

Tensor binomial(const Tensor& count, const Tensor& prob, const Stream& given) {
  const Device device =
      check_devices("binomial", {{"count", count}, {"prob", prob}}, DeviceRule::strict);
  expect_floats("binomial", count);
  expect_dtype("binomial", "prob", prob, count.dtype());
  const Dims sizes = broadcast("binomial", count.sizes(), prob.sizes());
  const NoGradGuard no_grad;
  if (device.is_meta()) return empty(sizes, count.options());
  const auto on_host = [&](const Tensor& t) {
    return expand(t, sizes).to(kCPU, kFloat64).contiguous();
  };
  const Tensor trials = on_host(count), chances = on_host(prob), drawn = empty_like(trials);
  const double *n = trials.data_ptr<double>(), *p = chances.data_ptr<double>();
  for (int64_t i = 0; i < trials.numel(); ++i) {
    if (!(n[i] >= 0 && std::isfinite(n[i]))) {
      throw Error(fmt::format("binomial: expected finite counts >= 0, got {}", n[i]));
    }
    if (!(p[i] >= 0 && p[i] <= 1)) {
      throw Error(fmt::format("binomial: expected probabilities in [0, 1], got {}", p[i]));
    }
  }
  const Generator generator = stream_for("binomial", device, given);
  const uint64_t seed = generator.seed(),
                 offset = generator.advance(static_cast<uint64_t>(trials.numel()));
  auto* k = drawn.data_ptr<double>();
  for (int64_t i = 0; i < trials.numel(); ++i) {
    Uniforms uniforms(philox::bits64(philox::generate(seed, offset + static_cast<uint64_t>(i)), 0));
    k[i] = successes(std::floor(n[i]), p[i], uniforms);
  }
  return drawn.to(device, count.dtype());
}

}  // namespace ambit
