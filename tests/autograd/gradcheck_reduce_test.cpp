// Gradients of reductions, first and second, compared with finite differences. Inputs avoid the
// points where a function has a kink, except where the gradient there is defined.
#include <ambit/ops/reduce.h>

#include <limits>

#include "gradcheck.h"
#include "tests/devices.h"
#include "tests/expected.h"

using namespace ambit;

namespace {

using One = std::function<Tensor(const Tensor&)>;

void check_both(const Tensor& x, const One& f) {
  const TensorFn of_list = [&f](const std::vector<Tensor>& in) { return f(in[0]); };
  gradcheck(of_list, {x});
  gradgradcheck(of_list, {x});
}

}  // namespace

TEST_CASE("sums, means and variances have correct first and second gradients") {
  for_each_device([](Device d) {
    const Tensor x = wave(d, {2, 3, 2});
    check_both(x, [](const Tensor& t) { return (t * t).sum(); });
    check_both(x, [](const Tensor& t) { return (t * t).sum({0, 2}); });
    check_both(x, [](const Tensor& t) { return (t * t).mean(1, true); });
    check_both(x, [](const Tensor& t) { return (t * t).mean(); });
    check_both(x, [](const Tensor& t) { return t.var(); });
    check_both(x, [](const Tensor& t) { return t.var({0, 2}, false); });
    check_both(x, [](const Tensor& t) { return ambit::std(t, {1}, true, true); });
    check_both(x, [](const Tensor& t) { return (t * t).cumsum(1); });
    check_both(wave(d, {}) + 0.5, [](const Tensor& t) { return (t * t).sum(0); });
  });
}

TEST_CASE("prod has correct gradients, with one zero and with several") {
  for_each_device([](Device d) {
    const One all = [](const Tensor& t) { return t.prod(); };
    const One rows = [](const Tensor& t) { return t.prod(1); };
    for (const Tensor& x : {wave(d, {2, 3}) + 1.5, wave(d, {2, 3}),
                            wave(d, {2, 3}) * tensor({{0., 1., 0.}, {1., 1., 1.}}, d)}) {
      check_both(x, all);
      check_both(x, rows);
    }
    check_both(wave(d, {1}) + 2, all);
    check_both(wave(d, {}) + 2, [](const Tensor& t) { return t.prod(0); });
  });
}

TEST_CASE("prod has PyTorch's gradients at zeros, NaN and infinities, and if it overflows") {
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  constexpr double kInf = std::numeric_limits<double>::infinity();
  for_each_device([&](Device d) {
    const TensorOptions f64 = TensorOptions(kFloat64).device(d);
    const auto of = [&](const Tensor& x) {
      const Tensor leaf = x.detach().requires_grad_();
      leaf.prod(1).backward(full({x.size(0)}, 2., f64));
      return leaf.grad();
    };
    check_values(of(tensor({{3., 0., -5.}, {0., 0., 5.}, {2., 4., -0.}}, f64)), {3, 3},
                 {0, -30, 0, 0, 0, 0, -0., -0., 16});
    check_values(of(tensor({{kNan, 0., 2.}, {kInf, 0., 2.}, {1e200, 1e200, 1e-300}}, f64)), {3, 3},
                 {0, kNan, kNan, 0, kInf, kNan, 2e-100, 2e-100, kInf});
    CHECK(of(empty({2, 0}, f64)).sizes() == IntArrayRef{2, 0});
    const Tensor twos = full({10, 2}, 2.0, TensorOptions(kFloat16).device(d)).requires_grad_();
    twos.t().prod(1).sum().backward();
    check_values(twos.grad(), {10, 2}, std::vector<double>(20, 512));
  });
}

TEST_CASE(
    "the gradient of std is 0 for equal elements, NaN for NaN, and finite for small elements") {
  for_each_device([](Device d) {
    const TensorOptions f64 = TensorOptions(kFloat64).device(d);
    const Tensor x =
        tensor({{0.1, 0.1, 0.1}, {1., NAN, 2.}, {1e-200, 2e-200, 3e-200}}, f64).requires_grad_();
    ambit::std(x, 1).sum().backward();
    check_values(x.grad(), {3, 3}, {0, 0, 0, NAN, NAN, NAN, -0.5, 0, 0.5});
    // 3 times the result would overflow a double.
    const Tensor large = tensor({{6e307, -6e307, 6e307, -6e307}}, f64).requires_grad_();
    ambit::std(large, 1).sum().backward();
    const double slope = 0.28867513459481288;  // 1 / (3 std) = 1 / (2 sqrt(3))
    check_values(large.grad(), {1, 4}, {slope, -slope, slope, -slope});
  });
}

TEST_CASE("max and min pass the gradient to the selected element") {
  for_each_device([](Device d) {
    const Tensor x = wave(d, {3, 4});
    check_both(x, [](const Tensor& t) { return (t * t).max(); });
    check_both(x, [](const Tensor& t) { return std::get<0>((t * t).max(1)); });
    check_both(x, [](const Tensor& t) { return std::get<0>((t * t * t).min(0, true)); });
    check_both(wave(d, {}) + 2, [](const Tensor& t) { return std::get<0>((t * t).min(0)); });
  });
}

TEST_CASE("max of the whole tensor shares its gradient equally among equals") {
  for_each_device([](Device d) {
    const Tensor x = tensor({2., 5., 5., 1., 5., 5.}, d).requires_grad_();
    x.max().backward();
    check_values(x.grad(), {6}, {0, 0.25, 0.25, 0, 0.25, 0.25});
    const Tensor y = tensor({{2., 5., 5.}}, d).requires_grad_();
    std::get<0>(y.max(1)).sum().backward();
    check_values(y.grad(), {1, 3}, {0, 1, 0});
  });
}

TEST_CASE("norms of every order have correct gradients") {
  for_each_device([](Device d) {
    const Tensor x = wave(d, {2, 3}) + 0.1;
    const double inf = std::numeric_limits<double>::infinity();
    for (const double p : {1., 1.5, 2., 3., 0.5, inf, -inf}) {
      INFO("p = ", p);
      check_both(x, [p](const Tensor& t) { return t.norm(p, {1}); });
      check_both(x, [p](const Tensor& t) { return t.norm(p); });
    }
    const Tensor zero = zeros({3}, TensorOptions(kFloat64).device(d)).requires_grad_();
    for (const double p : {0., 0.5, 1., 2., 3.}) zero.norm(p).backward();
    check_values(zero.grad(), {3}, {0, 0, 0});
  });
}

TEST_CASE("logsumexp has correct gradients, and 0 if all elements are minus infinity") {
  for_each_device([](Device d) {
    const Tensor x = wave(d, {2, 3, 2});
    check_both(x, [](const Tensor& t) { return t.logsumexp({0, 2}); });
    check_both(x, [](const Tensor& t) { return t.logsumexp({}, true); });
    const Tensor low = full({2, 2}, -std::numeric_limits<double>::infinity(), d);
    low.requires_grad_();
    low.logsumexp({1}).sum().backward();
    check_values(low.grad(), {2, 2}, {0, 0, 0, 0});
  });
}
