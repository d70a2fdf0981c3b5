// The gradient of each factor of a product is the product of the others: exactly 0 if one of them
// is 0, even if partial products overflow; PyTorch 2.15 returns NaN then. With infinities and NaN
// among the factors it equals PyTorch's.
#include <ambit/autograd.h>
#include <ambit/ops/creation.h>
#include <ambit/ops/elementwise.h>
#include <ambit/ops/index.h>
#include <ambit/ops/reduce.h>
#include <ambit/ops/scan.h>

#include <cmath>
#include <vector>

#include "tests/devices.h"
#include "tests/expected.h"

using namespace ambit;

TEST_CASE("gradients of products of zeros and large factors that overflow") {
  struct Product {
    std::vector<double> factors, gradient;
  };
  const double big = 1e200, inf = INFINITY;
  const std::vector<Product> products{
      {{0, 0, big, big}, {0, 0, 0, 0}},    {{0, big, big, 0}, {0, 0, 0, 0}},
      {{big, big, 0, 0}, {0, 0, 0, 0}},    {{big, big, 0, 2}, {0, 0, inf, 0}},
      {{0, 2, 3, 5}, {30, 0, 0, 0}},       {{0, inf, 0, 1}, {NAN, 0, NAN, NAN}},
      {{0, NAN, 0, 1}, {NAN, 0, NAN, NAN}}};
  for_each_device([&](Device d) {
    for (const Product& p : products) {
      const Tensor x = tensor(p.factors, TensorOptions(kFloat64).device(d)).requires_grad_();
      const Tensor line = x.view({4, 1}), none = zeros({1, 1}, x.options());
      const Tensor one = ones({1, 1}, x.options()), at = zeros({4, 1}, x.options().dtype(kInt64));
      const Tensor places = zeros({4}, at.options()), lengths = full({1}, 4, at.options());
      const std::vector<Tensor> results{x.prod(),
                                        line.prod(0),
                                        x.view({1, 4}).prod(1, true),
                                        scatter_reduce(one, 0, at, line, "prod"),
                                        scatter_reduce(none, 0, at, line, "prod", false),
                                        index_reduce(one, 0, places, line, "prod"),
                                        segment_reduce(x, "prod", lengths)};
      for (const Tensor& y : results) {
        for (const bool create_graph : {false, true}) {
          check_values(autograd::grad({y.sum()}, {x}, {}, true, create_graph)[0], {4}, p.gradient,
                       0);
        }
      }
    }
    // self is a factor, too.
    const TensorOptions options = TensorOptions(kFloat64).device(d);
    const Tensor self = zeros({1}, options).requires_grad_();
    const Tensor src = tensor({big, big, 0.}, options).requires_grad_();
    const Tensor at = zeros({3}, TensorOptions(kInt64).device(d));
    const Tensor y = scatter_reduce(self, 0, at, src, "prod");
    const auto g = autograd::grad({y}, {self, src}, {ones_like(y)});
    check_values(g[0], {1}, {0}, 0);
    check_values(g[1], {3}, {0, 0, 0}, 0);
  });
}

TEST_CASE("the gradient of a cumulative product is 0 if a later factor is 0") {
  for_each_device([](Device d) {
    // The products of the large factors overflow.
    const double big = 1e200;
    using Factors = std::vector<double>;
    for (const Factors& factors : {Factors{0, 0, big, big}, Factors{0, 0, big, big, big, 2}}) {
      const Tensor x = tensor(factors, TensorOptions(kFloat64).device(d)).requires_grad_();
      cumprod(x, 0).sum().backward();
      // PyTorch 2.15: only the first product has a gradient, that of x[0].
      std::vector<double> expected(factors.size(), 0);
      expected[0] = 1;
      check_values(x.grad(), {x.numel()}, expected, 0);
    }
  });
}
