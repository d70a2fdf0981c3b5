// Softmax and batch norm: values, running statistics and errors; gradcheck_nn_test tests gradients.
#include <ambit/autograd.h>
#include <ambit/error.h>
#include <ambit/nn/batchnorm.h>
#include <ambit/nn/functional.h>
#include <ambit/nn/functional/aten.h>
#include <ambit/ops/norm.h>
#include <ambit/ops/reduce.h>

#include <limits>

#include "tests/devices.h"
#include "tests/expected.h"

using namespace ambit;

TEST_CASE("softmax and log_softmax agree with PyTorch and do not overflow") {
  for_each_device([](Device d) {
    // wave(2, 3).softmax(1); (wave(2, 3) * 1000).log_softmax(0)
    const Tensor x = wave(d, {2, 3});
    check_values(x.softmax(1), {2, 3},
                 {0.179098714954, 0.341092881944, 0.479808403102, 0.5300366539, 0.312537651264,
                  0.157425694835});
    check_values((x * 1000).log_softmax(0), {2, 3},
                 {-863.209366649, 0, 0, 0, -309.229537082, -1336.23295768});
    CHECK(x.t().softmax(0).allclose(x.softmax(1).t()));
    CHECK(tensor(3., d).softmax(0).item<float>() == 1);
    CHECK(zeros({0, 3}, d).softmax(1).sizes() == IntArrayRef{0, 3});
    const Tensor masked = tensor({0., -std::numeric_limits<double>::infinity()}, d);
    check_values(masked.softmax(0), {2}, {1, 0});
  });
}

TEST_CASE("batch_norm normalises by the batch and updates the running statistics") {
  for_each_device([](Device d) {
    // rm = wave(3, k=0.2); rv = wave(3, k=0.3) + 1
    // F.batch_norm(wave(2, 3, 2), rm, rv, wave(3, k=0.5), wave(3, k=0.9), True, 0.25, 1e-3); rm; rv
    const Tensor x = wave(d, {2, 3, 2}), w = wave(d, {3}, 0.5), b = wave(d, {3}, 0.9);
    const Tensor mean = wave(d, {3}, 0.2), var = wave(d, {3}, 0.3) + 1;
    const uint32_t version = mean.version();
    check_values(batch_norm(x, w, b, mean, var, {.momentum = 0.25, .eps = 1e-3}), {2, 3, 2},
                 {0, 0, 1.27562020229, 1.18671744515, 0.851077252685, -0.312576238543, 0, 0,
                  0.0998175566678, 0.571152434402, 1.39746141357, 1.95942809581});
    check_values(mean, {3}, {-0.0756131686125, 0.226139895549, 0.393898741423});
    check_values(var, {3}, {0.897830284211, 1.11615728183, 1.25512106172});
    CHECK(mean.version() > version);
  });
}

TEST_CASE("batch_norm in evaluation uses the running statistics and does not change them") {
  for_each_device([](Device d) {
    // F.batch_norm(wave(2, 3, 2), wave(3, k=0.2), wave(3, k=0.3) + 1, wave(3, k=0.5),
    //              wave(3, k=0.9), False, 0.25, 1e-3)
    const Tensor x = wave(d, {2, 3, 2}), mean = wave(d, {3}, 0.2), var = wave(d, {3}, 0.3) + 1;
    const uint32_t version = mean.version();
    check_values(batch_norm(x, wave(d, {3}, 0.5), wave(d, {3}, 0.9), mean, var,
                            {.training = false, .eps = 1e-3}),
                 {2, 3, 2},
                 {0, 0, 1.11459915539, 1.06313010541, 0.937243279498, 0.476061433758, 0, 0,
                  0.43388410137, 0.706757060068, 1.15378751513, 1.3765074517});
    CHECK(mean.version() == version);
    CHECK(mean.equal(wave(d, {3}, 0.2)));
  });
}

TEST_CASE("batch_norm updates running statistics that are strided views") {
  for_each_device([](Device d) {
    const Tensor x = wave(d, {4, 3, 2});
    const Tensor all = zeros({3, 2}, TensorOptions(kFloat64).device(d));
    const Tensor mean = all.select(1, 0), var = all.select(1, 1);
    batch_norm(x, {}, {}, mean, var, {.momentum = 1});
    CHECK(mean.allclose(x.mean({0, 2})));
    CHECK(var.allclose(x.var({0, 2})));
  });
}

TEST_CASE("batch_norm of an empty batch is empty and changes no statistics") {
  for_each_device([](Device d) {
    const Tensor mean = zeros({3}, d), var = ones({3}, d), w = ones({3}, d).requires_grad_();
    const Tensor y = batch_norm(zeros({0, 3, 2}, d), w, {}, mean, var, {});
    CHECK(y.sizes() == IntArrayRef{0, 3, 2});
    y.sum().backward();
    CHECK(w.grad().equal(zeros({3}, d)));
    CHECK(mean.equal(zeros({3}, d)));
  });
}

// PyTorch 2.15: torch.batch_norm and torch.instance_norm accept one value per channel in training,
// and return the bias; the running variance is NaN, like that of one value. F.batch_norm and
// F.instance_norm of Python, and the modules, refuse it.
TEST_CASE("one value per channel is normalised to the bias") {
  for_each_device([](Device d) {
    const TensorOptions options = TensorOptions(kFloat64).device(d);
    const Tensor x = tensor({{{1.}, {2.}}}).to(d, kFloat64).requires_grad_();
    const Tensor w = full({2}, 2., options).requires_grad_(), b = full({2}, 3., options);
    const Tensor mean = full({2}, 0.5, options), var = full({2}, 3., options);
    using Maybe = std::optional<Tensor>;
    const Tensor plain = batch_norm(x, Maybe(), {}, {}, {}, true, 0.1, 1e-5, true);
    check_values(plain, {1, 2, 1}, {0, 0}, 0);
    check_values(instance_norm(x, {}, {}, {}, {}, true, 0.1, 1e-5, true), {1, 2, 1}, {0, 0}, 0);
    check_values(instance_norm(x.view({1, 2}), {}, {}, {}, {}, true, 0.1, 1e-5, true), {1, 2},
                 {0, 0}, 0);
    check_values(batch_norm(x, w, b, {}, {}, {}), {1, 2, 1}, {3, 3}, 0);
    const Tensor y = batch_norm(x, w, b, mean, var, {});
    check_values(y, {1, 2, 1}, {3, 3}, 0);
    check_values(mean, {2}, {0.55, 0.65});
    check_values(var, {2}, {NAN, NAN});
    const auto g = autograd::grad({y.sum()}, {x, w});
    check_values(g[0], {1, 2, 1}, {0, 0}, 0);
    check_values(g[1], {2}, {0, 0}, 0);
    // For each sample: mean = 0.9 * 0.5 + 0.1 x
    mean.fill_(0.5);
    var.fill_(3);
    check_values(
        instance_norm(x.detach().expand({3, 2, 1}), w, b, mean, var, true, 0.1, 1e-5, true),
        {3, 2, 1}, {3, 3, 3, 3, 3, 3}, 0);
    check_values(mean, {2}, {0.55, 0.65});
    check_values(var, {2}, {NAN, NAN});
    namespace F = nn::functional;
    CHECK_THROWS_AS(F::instance_norm(x), ShapeError);
    CHECK_THROWS_AS(F::batch_norm(x, mean, var, F::BatchNormFuncOptions().training(true)),
                    ShapeError);
    CHECK_THROWS_AS(nn::InstanceNorm1d(2)->forward(x.cpu().to(kFloat32)), ShapeError);
    CHECK_THROWS_AS(nn::BatchNorm1d(2)->forward(x.cpu().to(kFloat32)), ShapeError);
  });
}

TEST_CASE("softmax and batch_norm refuse invalid arguments, and say why") {
  const Tensor x = ones({2, 3, 4});
  CHECK_THROWS_AS(x.softmax(3), IndexError);
  CHECK_THROWS_WITH_AS(x.to(kInt64).softmax(0),
                       "softmax: expected a floating-point input, got int64", DTypeError);
  const auto one_value = nn::functional::BatchNormFuncOptions().training(true);
  CHECK_THROWS_WITH_AS(nn::functional::batch_norm(ones({1, 3}), {}, {}, one_value),
                       "batch_norm: expected more than 1 value per channel when training, got "
                       "input of sizes [1, 3]",
                       ShapeError);
  CHECK_THROWS_WITH_AS(batch_norm(x, ones({2}), {}, {}, {}, {}),
                       "batch_norm: expected input with 2 channels, as weight has, got [2, 3, 4]",
                       ShapeError);
  CHECK_THROWS_AS(batch_norm(x, {}, {}, {}, {}, {.training = false}), Error);
  CHECK_THROWS_AS(batch_norm(x, ones({3}, kFloat64), {}, {}, {}, {}), DTypeError);
  CHECK_THROWS_AS(batch_norm(x, {}, {}, ones({1}).expand({3}), ones({3}), {}), Error);
}
