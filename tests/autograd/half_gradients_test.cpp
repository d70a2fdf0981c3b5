// Gradients of float16 and bfloat16 whose intermediate values exceed the range of float16, or lose
// its digits, although the result does not: they are computed in float32.
#include <ambit/ambit.h>
#include <doctest/doctest.h>

#include <functional>

#include "tests/devices.h"
#include "tests/expected.h"

using namespace ambit;

namespace {

/// Return the gradient of sum(weights * f(x)) with respect to x.
Tensor slope(const std::function<Tensor(const Tensor&)>& f, const Tensor& x,
             const Tensor& weights) {
  const Tensor leaf = x.clone().requires_grad_();
  return autograd::grad({(f(leaf) * weights).sum()}, {leaf})[0];
}

}  // namespace

TEST_CASE("products that overflow float16 on the way have the gradients of their factors") {
  for_each_device([](Device d) {
    const TensorOptions half = TensorOptions(kHalf).device(d);
    const Tensor one = tensor(1., half), two_zeros = tensor({256., 256., 0., 0.}, half);
    const auto whole = [](const Tensor& x) { return x.prod(); };
    const auto along = [](const Tensor& x) { return x.prod(0); };
    const auto running = [](const Tensor& x) { return x.cumprod(0); };
    const Tensor at = zeros({4}, TensorOptions(kInt64).device(d));
    const auto met = [&](const Tensor& x) {
      return ones({1}, half).scatter_reduce(0, at, x, "prod");
    };
    const Tensor one_zero = tensor({256., 256., 0., 0.5}, half);
    for (const auto& product : {std::function<Tensor(const Tensor&)>(whole), {along}, {met}}) {
      check_values(slope(product, two_zeros, one), {4}, {0, 0, 0, 0});
      check_values(slope(product, one_zero, one), {4}, {0, 0, 32768, 0});
    }
    const Tensor third = tensor({0., 0., 0.25, 0.}, half);
    check_values(slope(running, two_zeros, third), {4}, {0, 0, 16384, 0});
    // The gradient of self is its weight times the product of src, 2^24.
    const Tensor large = tensor({256., 256., 256., 1.}, half);
    const auto scaled = [&](const Tensor& x) { return x.scatter_reduce(0, at, large, "prod"); };
    check_values(slope(scaled, zeros({1}, half), tensor({0x1p-10}, half)), {1}, {16384});
  });
}

TEST_CASE("variances of numbers far from 0 have the gradients of their distances from the mean") {
  for_each_device([](Device d) {
    // x.var() and x.std() of torch.tensor([1000., 1001., 1003.]).double(): x.grad. The mean, 1001
    // 1/3, would be 1001.5 in float16.
    const Tensor x = tensor({1000., 1001., 1003.}, TensorOptions(kHalf).device(d));
    const Tensor one = ones({}, x.options());
    // One rounding error of 2^-11, and for std another one of the root; check_values() doubles the
    // bound.
    check_values(slope([](const Tensor& t) { return t.var(); }, x, one), {3},
                 {-1.3333333333333333, -0.33333333333333331, 1.6666666666666667}, 0x1p-12);
    check_values(slope([](const Tensor& t) { return t.std(); }, x, one), {3},
                 {-0.4364357804719848, -0.1091089451179962, 0.545544725589981}, 0x1p-11);
  });
}

TEST_CASE("the gradient of erfcx of float16 and bfloat16 is accurate to their rounding") {
  for_each_device([](Device d) {
    // x = torch.tensor([-3.30078125, 40.]).double(): x.grad after special.erfcx(x).sum().backward()
    // is [-711841.43991576217, -0.00035228842528733928]. The first value divided by 64 is in
    // float16's range.
    const TensorOptions half = TensorOptions(kHalf).device(d);
    const Tensor got = slope([](const Tensor& x) { return special_erfcx(x); },
                             tensor({-3.30078125, 40.}, half), tensor({0x1p-6, 1.}, half));
    const Tensor want = tensor({-711841.43991576217 / 64, -0.00035228842528733928}, kFloat64).to(d);
    // One rounding error of 2^-11, and the error of float32's result: erfcx has an error of 12
    // times 2^-24 (see scaled_functions_test), and there are two products; these errors are
    // amplified 3200 times where the terms cancel. check_values() doubles the bound, for numbers of
    // magnitude 1.
    check_values(got / want, {2}, {1, 1}, (0x1p-11 + 3200 * 14 * 0x1p-24) / 2);
  });
}
