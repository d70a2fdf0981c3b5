// Master weights: float16 and bfloat16 parameters that are updated in float32.
#include <ambit/ambit.h>
#include <doctest/doctest.h>

#include <memory>
#include <string>
#include <vector>

#include "tests/devices.h"

using namespace ambit;

namespace {

using Make = std::unique_ptr<optim::Optimizer> (*)(const Tensor& p, bool master);

// Learning rates so small that a single step is less than bfloat16's spacing at the parameters.
constexpr Make kOptimizers[] = {
    [](const Tensor& p, bool master) -> std::unique_ptr<optim::Optimizer> {
      return std::make_unique<optim::SGD>(std::vector<Tensor>{p},
                                          optim::SGDOptions(1e-4).master_weights(master));
    },
    [](const Tensor& p, bool master) -> std::unique_ptr<optim::Optimizer> {
      return std::make_unique<optim::SGD>(
          std::vector<Tensor>{p}, optim::SGDOptions(1e-4).momentum(0.9).master_weights(master));
    },
    [](const Tensor& p, bool master) -> std::unique_ptr<optim::Optimizer> {
      return std::make_unique<optim::Adam>(std::vector<Tensor>{p},
                                           optim::AdamOptions(1e-4).master_weights(master));
    },
    [](const Tensor& p, bool master) -> std::unique_ptr<optim::Optimizer> {
      return std::make_unique<optim::AdamW>(
          std::vector<Tensor>{p}, optim::AdamWOptions(1e-4).amsgrad(true).master_weights(master));
    },
    [](const Tensor& p, bool master) -> std::unique_ptr<optim::Optimizer> {
      return std::make_unique<optim::Adagrad>(std::vector<Tensor>{p},
                                              optim::AdagradOptions(3e-4).master_weights(master));
    },
    [](const Tensor& p, bool master) -> std::unique_ptr<optim::Optimizer> {
      return std::make_unique<optim::RMSprop>(
          std::vector<Tensor>{p},
          optim::RMSpropOptions(1e-4).momentum(0.5).centered(true).master_weights(master));
    },
    [](const Tensor& p, bool master) -> std::unique_ptr<optim::Optimizer> {
      return std::make_unique<optim::NAdam>(std::vector<Tensor>{p},
                                            optim::NAdamOptions(1e-4).master_weights(master));
    },
    [](const Tensor& p, bool master) -> std::unique_ptr<optim::Optimizer> {
      return std::make_unique<optim::RAdam>(std::vector<Tensor>{p},
                                            optim::RAdamOptions(5e-4).master_weights(master));
    },
    [](const Tensor& p, bool master) -> std::unique_ptr<optim::Optimizer> {
      return std::make_unique<optim::Adamax>(std::vector<Tensor>{p},
                                             optim::AdamaxOptions(1e-4).master_weights(master));
    },
    [](const Tensor& p, bool master) -> std::unique_ptr<optim::Optimizer> {
      return std::make_unique<optim::ASGD>(std::vector<Tensor>{p},
                                           optim::ASGDOptions(1e-4).master_weights(master));
    },
};

// The gradients do not depend on the parameter's value.
void step(optim::Optimizer& optimizer, const Tensor& p, int i) {
  const Tensor g = (linspace(0.5, 1, 6) * (1 + i % 3)).to(kBFloat16);
  p.mutable_grad() = g.to(p.device(), p.dtype());
  optimizer.step();
}

Tensor start() { return linspace(1, 2, 6).to(kBFloat16); }

}  // namespace

TEST_CASE("a reduced floating-point parameter follows its float32 copy") {
  for_each_device([](Device device) {
    for (const Make make : kOptimizers) {
      const Tensor p = start().to(device).requires_grad_(), plain = p.detach().clone();
      const Tensor wide = start().to(device, kFloat32).requires_grad_();
      plain.requires_grad_();
      const auto optimizer = make(p, true), of_wide = make(wide, true),
                 without = make(plain, false);
      for (int i = 0; i < 100; ++i) {
        step(*optimizer, p, i);
        step(*of_wide, wide, i);
        step(*without, plain, i);
      }
      const auto& state = optimizer->state().at(p.impl());
      CHECK(state.master.dtype() == kFloat32);
      CHECK(equal(state.master, wide.detach()));
      CHECK(equal(p.detach(), wide.detach().to(kBFloat16)));
      CHECK_FALSE(equal(p.detach(), start().to(device)));
      CHECK(equal(plain.detach(), start().to(device)));  // each step was rounded away
      CHECK_FALSE(of_wide->state().at(wide.impl()).master.defined());
      for (const Tensor& t : state.tensors) {
        if (t.defined() && t.dim() > 0) CHECK(t.dtype() == kFloat32);
      }
    }
  });
}

TEST_CASE("master weights are part of the state, in every file format") {
  for (const Make make : kOptimizers) {
    const Tensor p = start().requires_grad_();
    const auto optimizer = make(p, true);
    for (int i = 0; i < 5; ++i) step(*optimizer, p, i);
    const Tensor q = p.detach().clone().requires_grad_(), r = p.detach().clone().requires_grad_();
    const auto other = make(q, true), third = make(r, true);
    other->load_state_dict(optimizer->state_dict());
    third->load_checkpoint(optimizer->checkpoint());
    for (int i = 5; i < 20; ++i) {
      step(*optimizer, p, i);
      step(*other, q, i);
      step(*third, r, i);
    }
    CHECK(equal(optimizer->state().at(p.impl()).master, other->state().at(q.impl()).master));
    CHECK(equal(optimizer->state().at(p.impl()).master, third->state().at(r.impl()).master));
    const Tensor s = p.detach().clone().requires_grad_();
    std::string text;
    try {
      make(s, false)->load_state_dict(optimizer->state_dict());
    } catch (const Error& e) {
      text = e.what();
    }
    CHECK(text.find("0.master_weight: unexpected") != std::string::npos);
  }
}

TEST_CASE("the next step starts from a parameter that the program writes") {
  const Tensor p = start().requires_grad_();
  optim::SGD sgd({p}, optim::SGDOptions(1e-4).master_weights(true));
  for (int i = 0; i < 10; ++i) step(sgd, p, i);
  {
    const NoGradGuard no_grad;
    p.fill_(5);
  }
  step(sgd, p, 0);
  CHECK(sgd.state().at(p.impl()).master.allclose(full({6}, 5.0), 1e-3));
  p.set_data(full({6}, 7, kBFloat16));
  step(sgd, p, 0);
  CHECK(sgd.state().at(p.impl()).master.allclose(full({6}, 7.0), 1e-3));
  // After a move to float32 there is no master copy; back in float16 there is one again.
  p.set_data(p.detach().to(kFloat32));
  step(sgd, p, 0);
  CHECK_FALSE(sgd.state().at(p.impl()).master.defined());
  p.set_data(p.detach().to(kFloat16));
  step(sgd, p, 0);
  CHECK(sgd.state().at(p.impl()).master.defined());
}

TEST_CASE("a module in bfloat16 learns with master weights, and not without") {
  const auto loss_after = [](bool master) {
    manual_seed(1);
    nn::Linear net(8, 1);
    net->to(kBFloat16);
    const Tensor x = randn({64, 8}), y = x.sum(1, true);
    optim::SGD sgd(net->parameters(), optim::SGDOptions(2e-3).master_weights(master));
    for (int i = 0; i < 1500; ++i) {
      sgd.zero_grad();
      mse_loss(net(x.to(kBFloat16)).to(kFloat32), y).backward();
      sgd.step();
    }
    const NoGradGuard no_grad;
    return mse_loss(net(x.to(kBFloat16)).to(kFloat32), y).item<double>();
  };
  const double with = loss_after(true), without = loss_after(false);
  CHECK(with < without / 4);
}
