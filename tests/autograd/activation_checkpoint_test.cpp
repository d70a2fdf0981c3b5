// utils::checkpoint: gradients equal those without it, bit for bit, with fewer saved tensors.
#include <ambit/ambit.h>
#include <ambit/memory.h>
#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "tests/devices.h"

using namespace ambit;

namespace {

// Layers of several kinds: dropout uses random numbers, gelu saves its input, tanh its output.
nn::Sequential network(Device device) {
  manual_seed(1);
  nn::Sequential net(nn::Linear(6, 8), nn::GELU(), nn::LayerNorm(nn::LayerNormOptions({8})),
                     nn::Dropout(0.5), nn::Linear(8, 5), nn::Tanh());
  net->to(device);
  return net;
}

// The gradients of the parameters and of the input.
std::vector<Tensor> gradients(nn::Sequential& net, const Tensor& x, bool with_checkpoint) {
  net->zero_grad();
  manual_seed(2);
  const Tensor input = x.detach().clone().requires_grad_();
  Tensor y = input * 2;
  y = with_checkpoint ? utils::checkpoint(net, y) : net->forward(y);
  const Tensor after = rand({3}, x.device());
  (y * y).sum().backward();
  std::vector<Tensor> all{y, input.grad(), after, rand({3}, x.device())};
  for (const Tensor& p : net->parameters()) all.push_back(p.grad().clone());
  return all;
}

void check_equal(const std::vector<Tensor>& a, const std::vector<Tensor>& b) {
  REQUIRE(a.size() == b.size());
  for (size_t i = 0; i < a.size(); ++i) {
    CAPTURE(i);
    CHECK(a[i].equal(b[i]));
  }
}

}  // namespace

TEST_CASE("a checkpoint changes no gradient and no random number") {
  for_each_device([](Device device) {
    nn::Sequential net = network(device);
    const Tensor x = randn({4, 6}, device);
    check_equal(gradients(net, x, false), gradients(net, x, true));
  });
}

TEST_CASE("a checkpoint computes again in the dtypes of its forward") {
  for_each_device([](Device device) {
    nn::Sequential net = network(device);
    const Tensor x = randn({4, 6}, device);
    const auto loss_gradient = [&](bool with_checkpoint) {
      net->zero_grad();
      manual_seed(2);
      Tensor y;
      {
        const AutocastGuard cast(device, kBFloat16);
        y = with_checkpoint ? utils::checkpoint(net, x) : net->forward(x);
      }
      CHECK(y.dtype() == kBFloat16);
      y.to(kFloat32).sum().backward();
      return std::vector<Tensor>{y, net->parameters()[0].grad().clone()};
    };
    check_equal(loss_gradient(false), loss_gradient(true));
  });
}

TEST_CASE("a checkpoint frees what its function saves, until backward needs it") {
  for_each_device([](Device device) {
    const Tensor x = rand({1000}, device).requires_grad_();
    const auto chain = [](const Tensor& t) {
      Tensor y = t;
      for (int i = 0; i < 10; ++i) y = y.exp().log1p();
      return y;
    };
    const auto held_by = [&](const std::function<Tensor()>& forward) {
      const size_t before = memory_stats(device).in_use;
      const Tensor y = forward();
      return static_cast<double>(memory_stats(device).in_use - before) / 4000;
    };
    // Each exp saves its output and each log1p its input, which is the same tensor.
    CHECK(held_by([&] { return chain(x); }) >= 10);
    CHECK(held_by([&] { return utils::checkpoint(chain, x); }) < 3);
  });
}

TEST_CASE("a checkpoint calls its function once more for each graph") {
  const Tensor x = ones({2}).requires_grad_();
  int calls = 0;
  const auto square = [&](const Tensor& t) {
    ++calls;
    return t * t;
  };
  const Tensor unused = utils::checkpoint(square, x * 1);
  CHECK(calls == 1);
  const Tensor y = utils::checkpoint(square, x * 1);
  y.sum().backward({}, /*retain_graph=*/true);
  CHECK(calls == 3);
  y.sum().backward();
  CHECK(calls == 3);
  CHECK(x.grad().equal(full({2}, 4.0)));
  {
    const NoGradGuard no_grad;
    CHECK_FALSE(utils::checkpoint(square, x).requires_grad());
  }
  CHECK(calls == 4);
  // Without a gradient there is no backward.
  CHECK_FALSE(utils::checkpoint(square, ones({2})).requires_grad());
}

TEST_CASE("checkpoints nest, have several results and second gradients") {
  for_each_device([](Device device) {
    const Tensor x = rand({3}, TensorOptions(device).dtype(kFloat64)).requires_grad_();
    const Tensor w = rand({3}, TensorOptions(device).dtype(kFloat64)).requires_grad_();
    const auto inner = [&](const Tensor& t) { return (t * w).sin() * t; };
    const auto both = [&](const std::vector<Tensor>& t) {
      const Tensor a = utils::checkpoint(inner, t[0] * t[1]);
      return std::vector<Tensor>{a * w, a.exp() * t[1]};
    };
    const auto plain = [&](const std::vector<Tensor>& t) {
      const Tensor a = inner(t[0] * t[1]);
      return std::vector<Tensor>{a * w, a.exp() * t[1]};
    };
    const auto derivatives = [&](const std::vector<Tensor>& y) {
      const Tensor sum = y[0].sum() + (y[1] * y[1]).sum();
      const std::vector<Tensor> first = autograd::grad({sum}, {x, w}, {}, true, true);
      std::vector<Tensor> all =
          autograd::grad({(first[0] * first[0]).sum() + first[1].sum()}, {x, w});
      all.insert(all.end(), first.begin(), first.end());
      return all;
    };
    const std::vector<Tensor> expected = derivatives(plain({x * 1, w + 1}));
    const std::vector<Tensor> got = derivatives(utils::checkpoint(both, {x * 1, w + 1}));
    REQUIRE(got.size() == expected.size());
    for (size_t i = 0; i < got.size(); ++i) {
      CAPTURE(i);
      // Second gradients are the same sums of fewer than 100 terms, in another order.
      if (i < 2) CHECK(allclose(got[i], expected[i], 100 * 2.3e-16, 0));
      if (i >= 2) CHECK(got[i].equal(expected[i]));
    }
  });
}

TEST_CASE("a checkpoint refuses a function that changes, and inputs that were written") {
  const Tensor x = rand({2}).requires_grad_();
  bool changed = false;
  const Tensor y = utils::checkpoint(
      [&](const Tensor& t) { return changed ? (t * 1).exp().exp() : (t * 1).exp(); }, x);
  changed = true;
  CHECK_THROWS_WITH_AS(y.sum().backward(),
                       "checkpoint: expected a function that saves 1 tensors for backward, as in "
                       "forward, got 2",
                       AutogradError);
  const Tensor input = x * 1;
  const Tensor z = utils::checkpoint([](const Tensor& t) { return (t + 1).exp(); }, input);
  input.add_(1);
  CHECK_THROWS_AS(z.sum().backward(), AutogradError);
}
