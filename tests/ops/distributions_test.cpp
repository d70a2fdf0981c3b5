// Distributions other than uniform and normal: moments, bounds, a program's own generators, bad
// calls.
#include <ambit/ambit.h>
#include <doctest/doctest.h>

#include "tests/devices.h"
#include "tests/expected.h"
#include "tests/mismatch/mismatch_calls.h"
#include "tests/tables/bad_calls.h"

using namespace ambit;

namespace {

constexpr int64_t kMany = 20'000;

TensorOptions f64(Device d) { return TensorOptions(kFloat64).device(d); }

// The mean is within five standard errors of its expectation, and so is the variance; kurtosis is
// the fourth central moment over the square of the variance.
void check_moments(const Tensor& x, double mean, double variance, double kurtosis) {
  const Tensor v = x.to(kCPU, kFloat64);
  const double n = static_cast<double>(v.numel());
  CHECK(std::fabs(v.mean().item<double>() - mean) <= 5 * std::sqrt(variance / n));
  CHECK(std::fabs(v.var().item<double>() - variance) <=
        5 * variance * std::sqrt((kurtosis - 1) / n));
}

struct Draw {
  const char* name;
  Tensor (*draw)(const TensorOptions& options, const std::optional<Generator>& generator);
};
// Every random function, with results of about [100].
const std::vector<Draw>& draws() {
#define DRAW(name, ...)                                                             \
  {                                                                                 \
#name, [](const TensorOptions& o,                                               \
              const std::optional <Generator>& g) -> Tensor { return __VA_ARGS__; } \
  }
  static const std::vector<Draw> all{
      DRAW(rand, rand({101}, g, o)),
      DRAW(randn, randn({101}, g, o)),
      DRAW(randint, randint(-9, 99, {101}, g, o)),
      DRAW(randint_to, randint(99, {101}, g, o)),
      DRAW(randperm, randperm(101, g, o)),
      DRAW(normal, normal(2, 3, {101}, g, o)),
      DRAW(normal_of_means, normal(full({101}, 0.3, o), 0.5, g)),
      DRAW(normal_of_deviations, normal(1, full({101}, 0.3, o), g)),
      DRAW(normal_of_both, normal(full({101}, 0.3, o), full({1}, 2, o), g)),
      DRAW(bernoulli, bernoulli(full({101}, 0.3, o), g)),
      DRAW(bernoulli_p, empty({101}, o).bernoulli(0.3, g)),
      DRAW(bernoulli_, empty({101}, o).bernoulli_(0.3, g)),
      DRAW(bernoulli_of, empty({101}, o).bernoulli_(full({1}, 0.3, o), g)),
      DRAW(poisson, poisson(full({101}, 4.5, o), g)),
      DRAW(poisson_large, poisson(full({101}, 1e3, o), g)),
      DRAW(binomial, binomial(full({101}, 9., o), full({101}, 0.3, o), g)),
      DRAW(binomial_many, binomial(full({101}, 900., o), full({101}, 0.7, o), g)),
      DRAW(bernoulli_of, bernoulli(zeros({101}, o), full({101}, 0.3, o), g)),
      DRAW(multinomial, multinomial(full({101}, 0.5, o), 50, true, g).to(o.dtype())),
      DRAW(multinomial_once, multinomial(full({101}, 0.5, o), 50, false, g).to(o.dtype())),
      DRAW(uniform_, empty({101}, o).uniform_(-1, 2, g)),
      DRAW(normal_, empty({101}, o).normal_(-1, 2, g)),
      DRAW(random_, empty({101}, o).random_(-1, 20, g)),
      DRAW(random_to, empty({101}, o).random_(20, g)),
      DRAW(random_all, empty({101}, o).random_(g)),
      DRAW(exponential_, empty({101}, o).exponential_(2, g)),
      DRAW(geometric_, empty({101}, o).geometric_(0.2, g)),
      DRAW(cauchy_, empty({101}, o).cauchy_(1, 2, g)),
      DRAW(log_normal_, empty({101}, o).log_normal_(0.1, 0.5, g)),
  };
#undef DRAW
  return all;
}

}  // namespace

TEST_CASE(
    "a program's own generator determines the numbers, and the device's generator does not "
    "advance") {
  for_each_device([](Device d) {
    for (const Draw& f : draws()) {
      INFO(std::string(f.name));
      manual_seed(3);
      const Tensor from_device = f.draw(f64(d), {});
      manual_seed(5);
      const uint64_t before = default_generator(d).offset();
      const Generator own(d, 3);
      const Tensor from_own = f.draw(f64(d), own);
      CHECK(from_own.equal(from_device));  // both generators have the same seed
      CHECK(default_generator(d).offset() == before);
      CHECK(own.offset() > 0);
      CHECK_FALSE(f.draw(f64(d), own).equal(from_own));
    }
  });
}

TEST_CASE("one seed gives the same numbers of every distribution on every device") {
  for (const Draw& f : draws()) {
    std::optional<Tensor> expected;
    for_each_device([&](Device d) {
      INFO(std::string(f.name));
      manual_seed(11);
      const Tensor got = f.draw(f64(d), {}).cpu();
      if (!expected) expected = got;
      // Logarithms and tangents are accurate to 4 ulp; near pi / 2 the error of a tangent is larger
      // in proportion to its value.
      CHECK(got.allclose(*expected, 1e-9, 1e-12));
    });
  }
}

TEST_CASE("a generator must be of the tensor's device, and an undefined one is ignored") {
  for_each_device([](Device d) {
    const Generator elsewhere(d.is_cpu() ? Device("reference") : Device());
    for (const Draw& f : draws()) {
      INFO(std::string(f.name));
      CHECK_THROWS_AS(f.draw(f64(d), elsewhere), Error);
      CHECK(elsewhere.offset() == 0);
      manual_seed(3);
      const Tensor from_device = f.draw(f64(d), {});
      manual_seed(3);
      CHECK(f.draw(f64(d), Generator()).equal(from_device));
    }
  });
}

TEST_CASE("distributions have their means and variances") {
  for_each_device([](Device d) {
    for (const DType dtype : dtypes::kFloating) {
      manual_seed(1);
      const TensorOptions o = TensorOptions(dtype).device(d);
      const auto fresh = [&] { return empty({kMany}, o); };
      check_moments(fresh().exponential_(4), 0.25, 1. / 16, 9);
      check_moments(fresh().geometric_(0.25), 4, 12, 9 + 1. / 12);
      check_moments(fresh().geometric_(0.25).to(kInt64), 4, 12, 9 + 1. / 12);
      check_moments(fresh().log_normal_(0.5, 0.25).log_(), 0.5, 1. / 16, 3);
      // The arc tangent of a Cauchy number is uniform.
      check_moments(fresh().cauchy_(1, 2).sub_(1).div_(2).atan_(), 0,
                    std::numbers::pi * std::numbers::pi / 12, 1.8);
      for (const double rate : {0.5, 9.5, 10., 350.}) {
        INFO("rate ", rate);
        check_moments(poisson(full({kMany}, rate, o)), rate, rate, 3 + 1 / rate);
      }
      for (const auto& [n, p] : {std::pair{7., 0.2}, {30., 0.3}, {30., 0.9}, {1000., 0.45}}) {
        INFO("of ", n, " with probability ", p);
        const double variance = n * p * (1 - p);
        check_moments(binomial(full({kMany}, n, o), full({kMany}, p, o)), n * p, variance,
                      3 + (1 - 6 * p * (1 - p)) / variance);
      }
      check_moments(normal(full({kMany}, 2, o), 3), 2, 9, 3);
      check_moments(normal(2, full({kMany}, 3, o)), 2, 9, 3);
      check_moments(bernoulli(full({kMany}, 0.25, o)), 0.25, 3. / 16, 7. / 3);
    }
    manual_seed(1);
    check_moments(empty({kMany}, TensorOptions(kInt32).device(d)).geometric_(0.25), 4, 12, 9.1);
    check_moments(empty({kMany}, TensorOptions(kUInt8).device(d)).random_(), 127.5, 65535. / 12,
                  1.8);
  });
}

TEST_CASE("random numbers are in their ranges, and each element has its own parameters") {
  for_each_device([](Device d) {
    manual_seed(2);
    CHECK(empty({kMany}, f64(d)).geometric_(0.9).min().item<double>() == 1);
    CHECK(empty({kMany}, f64(d)).exponential_().min().item<double>() >= 0);
    CHECK(empty({3}, TensorOptions(kBool).device(d)).random_().dtype() == kBool);
    CHECK(empty({kMany}, TensorOptions(kFloat32).device(d)).random_().max().item<double>() <=
          0x1p24);
    CHECK(empty({kMany}, TensorOptions(kInt8).device(d)).random_().min().item<int>() >= 0);
    CHECK(randint_like(zeros({9}, f64(d)), 5).max().item<double>() < 5);
    check_values(poisson(tensor({0., 0., 0.}, f64(d))), {3}, {0, 0, 0});
    check_values(binomial(tensor({0., 5., 500., 3.}, f64(d)), tensor({0.5, 0., 1., 1.}, f64(d))),
                 {4}, {0, 0, 500, 3});
    CHECK(binomial(full({kMany}, 40., f64(d)), full({1}, 0.4, f64(d))).max().item<double>() <= 40);
    check_values(
        bernoulli(ones({2, 3}, TensorOptions(kInt64).device(d)), tensor({1., 0., 1.}, f64(d))),
        {2, 3}, {1, 0, 1, 1, 0, 1});
    check_values(bernoulli(tensor({0., 1., 1.}, f64(d))), {3}, {0, 1, 1});
    check_values(zeros({2, 3}, f64(d)).bernoulli_(tensor({1., 0., 1.}, f64(d))), {2, 3},
                 {1, 0, 1, 1, 0, 1});
    check_values(zeros({3}, TensorOptions(kInt64).device(d)).bernoulli_(tensor({1., 0., 1.}).to(d)),
                 {3}, {1, 0, 1});
    const Tensor means = tensor({1., 2., 3.}, f64(d));
    CHECK(normal(means, 0).equal(means));
    CHECK(normal(means, zeros({2, 1}, f64(d))).equal(means.expand({2, 3})));
    CHECK(poisson(zeros({0, 2}, f64(d))).sizes() == IntArrayRef{0, 2});
    CHECK(empty({0}, f64(d)).exponential_().numel() == 0);
    // Fill a strided tensor, through a view.
    const Tensor x = zeros({4, 3}, f64(d));
    x.t().exponential_();
    CHECK(x.min().item<double>() > 0);
  });
}

TEST_CASE("random numbers have no gradient") {
  const Tensor p = full({3}, 0.5, kFloat64).requires_grad_();
  CHECK_FALSE(poisson(p).requires_grad());
  CHECK_FALSE(normal(p, p).requires_grad());
  CHECK_FALSE(bernoulli(p).requires_grad());
  // Functions that overwrite a tensor detach its history.
  const Tensor written[] = {(p * 2).exponential_(), (p * 2).geometric_(0.5), (p * 2).cauchy_(),
                            (p * 2).log_normal_(),  (p * 2).bernoulli_(p),   (p * 2).random_(3)};
  for (const Tensor& x : written) {
    p.mutable_grad() = Tensor();
    (x + p).sum().backward();
    CHECK(p.grad().equal(ones({3}, kFloat64)));
  }
  CHECK(normal(0, 1, {2}, {}, TensorOptions().requires_grad(true)).is_leaf());
  CHECK_THROWS_AS(p.geometric_(0.5), AutogradError);
  CHECK_THROWS_AS(p.log_normal_(), AutogradError);
}

namespace {

std::vector<bad_input::BadCall> bad_calls() {
  using namespace bad_input;
  return {
      VALUE(exponential_, none()),
      VALUE(exponential_, m23(), 0),
      DTYPE(exponential_, i23()),
      VALUE(exponential_, ones({1, 3}).expand({2, 3})),
      VALUE(geometric_, none(), 0.5),
      VALUE(geometric_, m23(), 0),
      VALUE(geometric_, m23(), 1),
      DTYPE(geometric_, b23(), 0.5),
      VALUE(cauchy_, none()),
      VALUE(cauchy_, m23(), 0, 0),
      DTYPE(cauchy_, i23()),
      VALUE(log_normal_, none()),
      VALUE(log_normal_, m23(), 0, -1),
      DTYPE(log_normal_, i23()),
      VALUE(binomial, none(), m23()),
      VALUE(binomial, m23(), none()),
      VALUE(binomial, m23() * -1, m23()),
      VALUE(binomial, m23() / 0, m23()),
      VALUE(binomial, m23(), m23() * 2),
      SHAPE(binomial, m23(), m45()),
      DTYPE(binomial, i23(), m23()),
      DTYPE(binomial, m23(), m23().to(kFloat64)),
      DEVICE(binomial, m23(), there()),
      SHAPE(bernoulli, m23(), ones({4})),
      DEVICE(bernoulli, m23(), there()),
      VALUE(dropout_, none()),
      VALUE(dropout_, m23(), 2.),
      DTYPE(dropout_, i23()),
      VALUE(poisson, none()),
      VALUE(poisson, m23() * -1),
      VALUE(poisson, m23() / 0),
      DTYPE(poisson, i23()),
      VALUE(normal, none(), 1.0),
      VALUE(normal, m23(), -1.0),
      VALUE(normal, m23(), m23() * -1),
      VALUE(normal, 0.0, none()),
      DTYPE(normal, 0.0, i23()),
      SHAPE(normal, m23(), m45()),
      DEVICE(normal, m23(), there()),
      VALUE(normal, 0.0, -1.0, {2}),
      DTYPE(normal, 0.0, 1.0, {2}, {}, kInt64),
      VALUE(bernoulli, m23(), 1.5),
      VALUE(bernoulli, none(), 0.5),
      SHAPE(bernoulli_, m23(), ones({4})),
      DTYPE(bernoulli_, m23(), i23()),
      VALUE(bernoulli_, m23(), m23() * 2),
      DEVICE(bernoulli_, m23(), there()),
      VALUE(random_, m23(), 0),
      VALUE(random_, none()),
  };
}
const CallTable<bad_input::BadCall> kBad(bad_calls);

std::vector<mismatch::Call> mixed_calls() {
  using namespace mismatch;
  return {
      CALL(normal, elementwise, given(f(), f()), t[0], t[1]),
      BOTH(bernoulli_, in_place_elementwise, given(f(), f()), t[1]),
      CALL(bernoulli, in_place_elementwise, given(f(), f()), t[0], t[1]),
      CALL(binomial, strict, given(f(), f()), t[0], t[1]),
  };
}
const CallTable<mismatch::Call> kMixed(mixed_calls);

}  // namespace
