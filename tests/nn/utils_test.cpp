// nn::utils compared with PyTorch 1.13 in float64: p.grad = wave(2, 3), q.grad = wave(4, k=.3) * 2;
// the norm of order 0 is the number of gradients, as in libtorch, not in Python.
#include <ambit/error.h>
#include <ambit/nn/utils/clip_grad.h>
#include <ambit/nn/utils/convert_parameters.h>
#include <ambit/ops/creation.h>
#include <ambit/ops/elementwise.h>
#include <ambit/ops/reduce.h>
#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "tests/devices.h"
#include "tests/expected.h"

using namespace ambit;

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

std::vector<Tensor> with_gradients(Device device) {
  const Tensor p = wave(device, {2, 3}).requires_grad_(), q = wave(device, {4}).requires_grad_(),
               unused = wave(device, {2}).requires_grad_();
  p.mutable_grad() = wave(device, {2, 3});
  q.mutable_grad() = wave(device, {4}, 0.3) * 2;
  return {p, unused, q};
}

}  // namespace

TEST_CASE("clip_grad_norm_ scales all gradients by their common norm, as in PyTorch") {
  struct Case {
    double type, norm, last;  // the norm before clipping, and q.grad[3] after clipping to 1.5
  };
  for_each_device([](Device device) {
    for (const Case& c :
         {Case{2, 2.538807080844, 0.9256236210268}, Case{1, 6.465627341088, 0.3634574406247},
          Case{3, 1.952211322395, 1.203752635881}, Case{kInfinity, 1.566653819255, 1.499999042546},
          Case{0, 2, 1.174989776946}}) {
      INFO(c.type);
      const auto params = with_gradients(device);
      CHECK(std::abs(nn::utils::clip_grad_norm_(params, 1.5, c.type) - c.norm) < 1e-11);
      CHECK(std::abs(params[2].grad()[3].item<double>() - c.last) < 1e-11);
    }
    const auto params = with_gradients(device);
    const Tensor before = params[0].grad().clone();
    nn::utils::clip_grad_norm_(params, 100);  // the norm is lower: no change
    CHECK(params[0].grad().allclose(before, 1e-15));
    CHECK(nn::utils::clip_grad_norm_(params[1], 1) == 0);
    CHECK(nn::utils::clip_grad_norm_({params[0], params[2]}, 1e-3) > 1);
    CHECK(std::abs(nn::utils::clip_grad_norm_(params, 1) - 1e-3) < 1e-8);
  });
}

TEST_CASE("clip_grad_norm_ of infinite and NaN gradients") {
  for_each_device([](Device device) {
    for (const double bad : {kInfinity, std::nan("")}) {
      const auto params = with_gradients(device);
      params[2].grad()[0].fill_(bad);
      const Tensor before = params[0].grad().clone();
      CHECK_THROWS_AS(nn::utils::clip_grad_norm_(params, 1, 2, /*error_if_nonfinite=*/true), Error);
      CHECK(params[0].grad().equal(before));
      const double norm = nn::utils::clip_grad_norm_(params, 1);
      CHECK(((norm == bad) || (std::isnan(norm) && std::isnan(bad))));
      // As in PyTorch, gradients are multiplied by 1 / inf, or by NaN.
      CHECK((std::isnan(bad) ? any(isnan(params[0].grad())).item<bool>()
                             : params[0].grad().equal(zeros_like(before))));
    }
  });
}

TEST_CASE("clip_grad_norm_ accepts gradients of several devices and dtypes") {
  const Tensor a = ones({2}).requires_grad_(),
               b = ones({2}, TensorOptions(kFloat64).device("reference")).requires_grad_();
  a.mutable_grad() = full({2}, 3.0);
  b.mutable_grad() = full({2}, 4.0, b.options());
  CHECK(std::abs(nn::utils::clip_grad_norm_({a, b}, 1) - std::sqrt(50.0)) < 1e-6);
  CHECK(a.grad().dtype() == kFloat32);
  CHECK(b.grad().device() == Device("reference"));
}

TEST_CASE("clip_grad_value_ clamps every element") {
  for_each_device([](Device device) {
    const auto params = with_gradients(device);
    nn::utils::clip_grad_value_(params, 0.5);
    check_values(params[0].grad(), {2, 3}, {0, 0.5, 0.5, 0.5, 0.3349881501559, -0.3507832276896});
    CHECK(params[2].grad().max().item<double>() == 0.5);
    nn::utils::clip_grad_value_(params[2], 0.25);
    CHECK(params[2].grad().max().item<double>() == 0.25);
  });
}

TEST_CASE("parameters are converted to a vector and back") {
  for_each_device([](Device device) {
    const auto params = with_gradients(device);
    const Tensor all = nn::utils::parameters_to_vector(params);
    CHECK(all.sizes() == IntArrayRef{12});
    all.sum().backward();
    CHECK(params[1].grad().equal(ones_like(params[1])));
    const Tensor doubled = all.detach() * 2;
    nn::utils::vector_to_parameters(doubled, params);
    CHECK(params[0].equal(wave(device, {2, 3}) * 2));
    CHECK(params[2].is_leaf());
    doubled.zero_();  // shares their memory
    CHECK(params[2].equal(zeros_like(params[2])));
  });
}

TEST_CASE("a vector of another size changes no parameter") {
  const auto params = with_gradients(kCPU);
  const Tensor before = params[0].detach().clone();
  CHECK_THROWS_WITH_AS(nn::utils::vector_to_parameters(ones({11}, kFloat64), params),
                       "vector_to_parameters: expected a vector [12], got [11]", ShapeError);
  CHECK_THROWS_AS(nn::utils::vector_to_parameters(ones({12, 1}, kFloat64), params), ShapeError);
  CHECK_THROWS_AS(nn::utils::vector_to_parameters(ones({12}), params), DTypeError);
  CHECK_THROWS_AS(nn::utils::vector_to_parameters(
                      ones({12}, TensorOptions(kFloat64).device("reference")), params),
                  DeviceMismatchError);
  CHECK_THROWS_AS(nn::utils::vector_to_parameters(Tensor(), params), Error);
  CHECK(params[0].equal(before));
  CHECK_THROWS_AS(nn::utils::parameters_to_vector({params[0], ones({1}, "reference")}),
                  DeviceMismatchError);
  CHECK_THROWS_AS(nn::utils::parameters_to_vector({}), Error);
}
