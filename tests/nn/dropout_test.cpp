// Dropouts of channels and alpha dropout: masks, statistics, shapes and errors.
#include <ambit/nn/nn.h>

#include "tests/devices.h"
#include "tests/expected.h"

using namespace ambit;
namespace F = nn::functional;

TEST_CASE("channel dropout zeroes whole channels; alpha dropout keeps mean and variance") {
  manual_seed(5);
  const Tensor x = ones({40, 50, 3, 3});
  const Tensor y = F::dropout2d(x, 0.25);
  const Tensor sums = y.sum({2, 3});
  CHECK(((sums == 0) | (sums - 12).abs().lt(1e-5)).all().item<bool>());
  // 2000 channels: the fraction is within 5 standard deviations of 0.0097.
  CHECK((sums == 0).to(kFloat32).mean().item<double>() == doctest::Approx(0.25).epsilon(0.2));
  CHECK(F::dropout3d(ones({8, 9, 2, 2, 2}), 0.5).sizes() == IntArrayRef{8, 9, 2, 2, 2});
  const Tensor z = randn({100000});
  const Tensor a = F::alpha_dropout(z, 0.3, true);
  // The standard deviation of a mean of 1e5 numbers is 0.003. That of their variance is 0.0045 for
  // normally distributed numbers, and larger here because of the tails.
  CHECK(std::abs(a.mean().item<double>()) < 0.02);
  CHECK(std::abs(a.var().item<double>() - 1) < 0.05);
  CHECK(F::alpha_dropout(z, 0.3).is_same(z));
  const Tensor f = F::feature_alpha_dropout(x, 0.5, true);
  CHECK((f == f.select(2, 0).select(2, 0).unsqueeze(2).unsqueeze(3)).all().item<bool>());
  Tensor in = x.clone();
  CHECK(F::dropout2d(in, 0.5, true, true).is_same(in));
  CHECK_THROWS_AS(F::dropout2d(ones({}), 0.5), ShapeError);
  CHECK_THROWS_AS(F::dropout2d(x, 2), Error);
  CHECK_THROWS_AS(nn::Dropout3d(-1), Error);
  nn::Dropout2d off(0.5);
  off->eval();
  CHECK(off(x).is_same(x));
}

// PyTorch 2.15, torch/nn/functional/dropout.h: dropout2d of x with 2 dims, and dropout3d of x with
// other than 5 dims, are feature_dropout of x.unsqueeze(0): all elements of a row have one mask
// element.
// F.feature_alpha_dropout(torch.ones(()), training=False), ... (torch.ones(2), 0., True)
TEST_CASE("channel dropout accepts inputs of other dims") {
  manual_seed(5);
  for (const bool three : {false, true}) {
    for (const Dims& sizes : {Dims{64, 3}, Dims{64, 2, 2, 2, 2, 2}}) {
      const Tensor x = ones(sizes);
      const Tensor y = (three ? F::dropout3d(x, 0.5) : F::dropout2d(x, 0.5)).reshape({64, -1});
      CHECK((y == y.narrow(1, 0, 1)).all().item<bool>());
      CHECK(((y == 0) | (y == 2)).all().item<bool>());
      CHECK((y == 0).any().item<bool>());  // fails for one of 2^64 seeds
    }
  }
  CHECK(F::dropout2d(ones({3}), 0.5).sizes() == IntArrayRef{3});
  for (const Dims& sizes : {Dims{}, Dims{2}, Dims{2, 3}, Dims{2, 3, 4, 5, 6, 7}}) {
    for (const DType dtype : {kFloat32, kInt64}) {
      const Tensor x = ones(sizes, dtype);
      CHECK(F::feature_alpha_dropout(x, 0.5, false).is_same(x));
      CHECK(F::alpha_dropout(x, 0.5, false).is_same(x));
      CHECK(F::dropout2d(x, 0.5, false).is_same(x));
      CHECK(F::dropout3d(x, 0.5, false).is_same(x));
      CHECK(F::dropout(x, 0.5, false).is_same(x));
      CHECK(feature_dropout(x, 0.5, false).is_same(x));
    }
    const Tensor x = ones(sizes);
    CHECK(F::feature_alpha_dropout(x, 0, true).is_same(x));
    CHECK(feature_dropout(x, 0, true).is_same(x));
  }
  CHECK(nn::Dropout2d()(ones({2, 3})).sizes() == IntArrayRef{2, 3});
  CHECK_THROWS_AS(F::feature_alpha_dropout(ones({2}), 0.5, true), ShapeError);
  CHECK_THROWS_AS(feature_dropout(ones({2}), 0.5, true), ShapeError);
  CHECK_THROWS_AS(F::dropout(ones({2}, kInt64), 0.5, true), DTypeError);
}
