// optim::FusedBackward: the parameters after it equal those after step(), bit for bit, without the
// memory of all gradients.
#include <ambit/ambit.h>
#include <ambit/memory.h>
#include <doctest/doctest.h>

#include <memory>
#include <vector>

#include "tests/devices.h"

using namespace ambit;

namespace {

using Make = std::unique_ptr<optim::Optimizer> (*)(const std::vector<Tensor>&);

// Parameters after three steps; the second layer's weight is used twice in each graph.
std::vector<Tensor> train(Device device, Make make, bool fused) {
  manual_seed(3);
  nn::Linear first(6, 6), second(6, 6);
  first->to(device);
  second->to(device);
  std::vector<Tensor> params = first->parameters();
  for (const Tensor& p : second->parameters()) params.push_back(p);
  const std::unique_ptr<optim::Optimizer> optimizer = make(params);
  std::unique_ptr<optim::FusedBackward> updates;
  if (fused) updates = std::make_unique<optim::FusedBackward>(*optimizer);
  for (int step = 0; step < 3; ++step) {
    const Tensor loss = second(second(first(randn({4, 6}).to(device)).tanh())).square().mean();
    if (!fused) optimizer->zero_grad();
    loss.backward();
    if (!fused) optimizer->step();
    for (const Tensor& p : params) CHECK(p.grad().defined() == !fused);
  }
  return params;
}

}  // namespace

TEST_CASE("FusedBackward updates parameters as step() does") {
  constexpr Make kOptimizers[] = {
      [](const std::vector<Tensor>& p) -> std::unique_ptr<optim::Optimizer> {
        return std::make_unique<optim::SGD>(p, optim::SGDOptions(0.1).momentum(0.9));
      },
      [](const std::vector<Tensor>& p) -> std::unique_ptr<optim::Optimizer> {
        return std::make_unique<optim::AdamW>(p, optim::AdamWOptions(0.01));
      },
      [](const std::vector<Tensor>& p) -> std::unique_ptr<optim::Optimizer> {
        return std::make_unique<optim::RMSprop>(p, optim::RMSpropOptions(0.01));
      }};
  for_each_device([&](Device device) {
    for (const Make make : kOptimizers) {
      const std::vector<Tensor> expected = train(device, make, false);
      const std::vector<Tensor> got = train(device, make, true);
      for (size_t i = 0; i < got.size(); ++i) CHECK(got[i].equal(expected[i]));
    }
  });
}

TEST_CASE("FusedBackward needs memory for one gradient, and ends with its scope") {
  for_each_device([](Device device) {
    constexpr int64_t kSize = 64, kLayers = 8;
    std::vector<Tensor> weights;
    for (int i = 0; i < kLayers; ++i) {
      weights.push_back(randn({kSize, kSize}).to(device).requires_grad_());
    }
    optim::SGD sgd(weights, optim::SGDOptions(0.01));
    const auto gradients_held = [&] {
      const size_t before = memory_stats(device).in_use;
      Tensor x = ones({1, kSize}, device);
      for (const Tensor& w : weights) x = x.matmul(w) * 0.1;
      x.sum().backward();
      x = Tensor();
      return memory_stats(device).in_use - before;
    };
    {
      const optim::FusedBackward fused(sgd);
      gradients_held();  // allocators may keep scratch memory of the first step
      CHECK(gradients_held() < kSize * kSize * 4);
    }
    CHECK(gradients_held() >= kLayers * kSize * kSize * 4);
    for (const Tensor& w : weights) CHECK(w.grad().defined());
  });
}

TEST_CASE("FusedBackward refuses graphs and optimizers that it does not support") {
  const Tensor p = ones({2}).requires_grad_(), x = ones({2}).requires_grad_();
  optim::SGD sgd({p}, optim::SGDOptions(0.1));
  {
    const optim::FusedBackward fused(sgd);
    CHECK_THROWS_WITH_AS((p * x).sum().backward({}, true, true),
                         "FusedBackward: expected backward without create_graph, got one with it",
                         AutogradError);
    CHECK_THROWS_WITH_AS(optim::FusedBackward{sgd},
                         "expected a parameter of one DistributedDataParallel or FusedBackward, "
                         "got a parameter of two",
                         AutogradError);
    CHECK(p.equal(ones({2})));
    // The product's gradient for x reads the value that p had before its update.
    const Tensor y = x * p.detach();
    CHECK_THROWS_AS((y.exp() + p * 2).sum().backward(), AutogradError);
  }
  optim::LBFGS lbfgs({p}, optim::LBFGSOptions());
  CHECK_THROWS_AS(optim::FusedBackward{lbfgs}, Error);
}
