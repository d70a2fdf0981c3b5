// nn::init: bounds and moments of the random values, and the defaults of layers.
#include <ambit/error.h>
#include <ambit/nn/conv.h>
#include <ambit/nn/embedding.h>
#include <ambit/nn/init.h>
#include <ambit/nn/linear.h>
#include <ambit/ops/conv.h>
#include <ambit/ops/creation.h>
#include <ambit/ops/elementwise.h>
#include <ambit/ops/index.h>
#include <ambit/ops/matmul.h>
#include <ambit/ops/random.h>
#include <ambit/ops/reduce.h>
#include <doctest/doctest.h>

#include <cmath>

#include "tests/devices.h"

using namespace ambit;
namespace init = ambit::nn::init;

namespace {

// Check a uniform fill of +-bound by its range and, to 5 standard deviations, its moments.
void check_uniform(const Tensor& t, double bound) {
  const double n = static_cast<double>(t.numel());
  const Tensor x = t.detach().to(kFloat64);
  CHECK(x.abs().max().item<double>() <= bound * (1 + 1e-6));  // the bound rounded to float32
  // The largest of n draws is below 0.9 of the bound with probability 0.9^n < 1e-9 for n > 200.
  CHECK(x.abs().max().item<double>() > bound * 0.9);
  const double std = bound / std::sqrt(3.0);
  CHECK(std::abs(x.mean().item<double>()) < 5 * std / std::sqrt(n));
  // For a uniform distribution Var(s^2) / s^4 is 0.8 / n; the relative error of s is half that of
  // s^2.
  CHECK(std::abs(x.std().item<double>() / std - 1) < 5 * std::sqrt(0.2 / n));
}

void check_normal(const Tensor& t, double std) {
  const double n = static_cast<double>(t.numel());
  const Tensor x = t.detach().to(kFloat64);
  CHECK(std::abs(x.mean().item<double>()) < 5 * std / std::sqrt(n));
  // For a normal distribution Var(s^2) / s^4 is 2 / n; the relative error of s is half that of s^2.
  CHECK(std::abs(x.std().item<double>() / std - 1) < 5 * std::sqrt(0.5 / n));
}

}  // namespace

TEST_CASE("Linear and Conv2d are initialised as in PyTorch, uniform in 1/sqrt(fan_in)") {
  manual_seed(0);
  nn::Linear fc(100, 400);
  check_uniform(fc->weight, 0.1);  // 1 / sqrt(100)
  check_uniform(fc->bias, 0.1);
  nn::Conv2d conv(nn::Conv2dOptions(8, 256, {5, 4}).groups(2));
  check_uniform(conv->weight, 1 / std::sqrt(80.0));  // fan_in = 8 / 2 * 5 * 4
  check_uniform(conv->bias, 1 / std::sqrt(80.0));
  check_normal(nn::Embedding(200, 50)->weight, 1);
}

TEST_CASE("Kaiming and Xavier initialisation have their formulas' distribution, on every device") {
  for_each_device([](Device d) {
    manual_seed(1);
    const Tensor w = empty({64, 16, 3, 3}, d);                       // fan_in 144, fan_out 576
    check_uniform(init::kaiming_uniform_(w), std::sqrt(6.0 / 144));  // sqrt(3) sqrt(2 / fan_in)
    check_uniform(init::kaiming_uniform_(w, 0, kFanOut, kReLU), std::sqrt(6.0 / 576));
    check_uniform(init::kaiming_uniform_(w, 2), std::sqrt(3 * (2.0 / 5) / 144));
    check_normal(init::kaiming_normal_(w), std::sqrt(2.0 / 144));
    check_normal(init::kaiming_normal_(w, 0, kFanIn, kTanh), 5.0 / 3 / 12);
    check_uniform(init::xavier_uniform_(w), std::sqrt(6.0 / 720));
    check_normal(init::xavier_normal_(w, 2), 2 * std::sqrt(2.0 / 720));
    check_normal(init::normal_(w, 0, 3), 3);
    check_uniform(init::uniform_(w, -2, 2), 2);
    CHECK(init::constant_(w, 0.5).equal(full_like(w, 0.5)));
    CHECK(init::zeros_(w).equal(zeros_like(w)));
    CHECK(init::ones_(w).is_same(w));
    CHECK(w.equal(ones_like(w)));
  });
}

TEST_CASE("initialisation works on parameters and is not recorded") {
  nn::Linear fc(3, 2);
  init::xavier_uniform_(fc->weight);
  init::zeros_(fc->bias);
  CHECK(fc->weight.is_leaf());
  CHECK(fc->weight.requires_grad());
}

TEST_CASE("one seed gives the same network on every device") {
  for_each_device([](Device d) {
    manual_seed(5);
    nn::Linear a(20, 10);
    manual_seed(5);
    nn::Linear b(20, 10);
    CHECK(a.to(d)->weight.equal(b.to(d)->weight));
  });
}

TEST_CASE("gains are PyTorch's") {
  // [nn.init.calculate_gain(g) for g in ("linear", "conv2d", "sigmoid", "tanh", "relu",
  // "leaky_relu")] and calculate_gain("leaky_relu", 0.2): 1, 1, 1, 5/3, 1.4142135623730951,
  // 1.4141428569978354, 1.3867504905630728; equal except for the last bit of a square root.
  const auto gain = [](auto... a) {
    return doctest::Approx(init::calculate_gain(a...)).epsilon(1e-15);
  };
  CHECK(1.0 == gain(kLinear));
  CHECK(1.0 == gain(kConv2D));
  CHECK(1.0 == gain(kSigmoid));
  CHECK(5.0 / 3 == gain(kTanh));
  CHECK(1.4142135623730951 == gain(kReLU));
  CHECK(1.4141428569978354 == gain(kLeakyReLU));
  CHECK(1.3867504905630728 == gain(kLeakyReLU, 0.2));
}

TEST_CASE("fans need two dims, and a tensor without elements is unchanged") {
  CHECK(init::calculate_fan_in_and_fan_out(empty({6, 3, 5, 4})) ==
        std::tuple<int64_t, int64_t>(60, 120));
  CHECK_THROWS_WITH(init::kaiming_uniform_(empty({3})),
                    "kaiming_uniform_: expected a tensor of at least 2 dims, got shape [3]");
  CHECK_THROWS_AS(init::kaiming_normal_(empty({})), ShapeError);
  CHECK_THROWS_AS(init::xavier_uniform_(empty({3})), ShapeError);
  CHECK_THROWS_AS(init::xavier_normal_(empty({3})), ShapeError);
  CHECK_THROWS_AS(init::uniform_(empty({3}, kInt64)), DTypeError);
  CHECK(init::kaiming_uniform_(empty({3, 0})).numel() == 0);
}

TEST_CASE("eye_ and dirac_ have PyTorch's values") {
  for_each_device([](Device d) {
    const Tensor m = ones({2, 3}, d);
    CHECK(init::eye_(m).equal(eye(2, 3, d)));
    // dirac_(torch.empty(4, 2, 3), groups=2)[:, :, 1], zeros elsewhere
    const Tensor w = init::dirac_(full({4, 2, 3}, 7.0, d), 2);
    CHECK(w.select(2, 1).equal(tensor({{1., 0.}, {0., 1.}, {1., 0.}, {0., 1.}}, d)));
    CHECK(w.sum().item<float>() == 4);
    const Tensor v = init::dirac_(ones({3, 2, 3, 4}, d));
    CHECK(v[0][0][1][2].item<float>() == 1);
    CHECK(v[1][1][1][2].item<float>() == 1);
    CHECK(v.sum().item<float>() == 2);
    CHECK(init::dirac_(ones({2, 2, 1, 3, 5}, d)).sum().item<float>() == 2);
    // With this weight the convolution returns its input.
    const Tensor x = randn({1, 2, 4, 4}, d);
    CHECK(conv2d(x, init::dirac_(empty({2, 2, 3, 3}, d)), {}, {.padding = {1, 1}}).equal(x));
  });
  CHECK_THROWS_AS(init::eye_(ones({2, 2, 2})), ShapeError);
  CHECK_THROWS_AS(init::dirac_(ones({2, 2})), ShapeError);
  CHECK_THROWS_AS(init::dirac_(ones({3, 2, 2}), 2), ShapeError);
  CHECK_THROWS_AS(init::dirac_(ones({3, 2, 2}), 0), ShapeError);
}

TEST_CASE("orthogonal_ gives orthogonal rows or columns of equal length, uniformly distributed") {
  for_each_device([](Device d) {
    manual_seed(1);
    for (const Dims& sizes : {Dims{5, 5}, Dims{3, 8}, Dims{8, 3}, Dims{6, 2, 2, 2}, Dims{1, 4}}) {
      for (const DType dtype : {kFloat32, kFloat64}) {
        const Tensor w = init::orthogonal_(empty(sizes, TensorOptions(dtype).device(d)), 2);
        const Tensor m = w.reshape({sizes[0], -1}).to(kFloat64);
        const Tensor gram = m.size(0) <= m.size(1) ? m.matmul(m.t()) : m.t().matmul(m);
        // Entries of size 2 are rounded to the dtype; 8 of them are in a product.
        const double rounding = dtype == kFloat32 ? 6e-8 : 1.2e-16;
        CHECK(gram.allclose(eye(gram.size(0), gram.options()) * 4, 0, 64 * rounding));
      }
    }
    // The matrix has more columns than a panel of the factorisation.
    const Tensor wide = init::orthogonal_(empty({150, 140}, d)).to(kFloat64);
    CHECK(wide.t().matmul(wide).allclose(eye(140, wide.options()), 0, 1e-5));
  });
  // The sign of an entry is random: the mean of 400 is within 5 / sqrt(400).
  manual_seed(2);
  double signs = 0;
  for (int i = 0; i < 400; ++i) {
    signs += init::orthogonal_(empty({2, 2}))[0][0].item<double>() > 0 ? 1 : -1;
  }
  CHECK(std::abs(signs / 400) < 0.25);
  CHECK_THROWS_AS(init::orthogonal_(ones({4})), ShapeError);
  CHECK_THROWS_AS(init::orthogonal_(ones({4, 4}, kInt64)), DTypeError);
  CHECK(init::orthogonal_(empty({0, 4})).numel() == 0);
}

TEST_CASE("sparse_ puts zeros into each column, and normal numbers elsewhere") {
  for_each_device([](Device d) {
    manual_seed(3);
    const Tensor w = init::sparse_(empty({10, 30}, d), 0.25, 2);
    CHECK((w == 0).sum(0).equal(full({30}, 3, d)));  // 2.5 rounded up
    CHECK_FALSE((w == 0).to(kInt64).select(1, 0).equal((w == 0).to(kInt64).select(1, 1)));
    const Tensor rest = w.masked_select(w != 0).to(kFloat64);
    CHECK(std::abs(rest.std().item<double>() / 2 - 1) < 5 * std::sqrt(0.5 / 210));
    CHECK(init::sparse_(w, 1).equal(zeros_like(w)));
  });
  CHECK_THROWS_AS(init::sparse_(ones({4}), 0.5), ShapeError);
  CHECK_THROWS_AS(init::sparse_(ones({4, 4}), 1.5), Error);
  CHECK_THROWS_AS(init::sparse_(ones({4, 4}, kInt64), 0.5), DTypeError);
}
