// Errors and corner cases of the optimizers and options that libtorch does not have.
// fifty_steps_test.cpp compares fifty steps of each. parameter() is wave(n, k=.4) of expected.h.
#include <ambit/error.h>
#include <ambit/ops/creation.h>
#include <ambit/ops/elementwise.h>
#include <ambit/ops/reduce.h>
#include <ambit/optim/optim.h>
#include <doctest/doctest.h>

#include <cmath>

#include "tests/devices.h"
#include "tests/expected.h"
#include "tests/nn/optimizer_case.h"

using namespace ambit;
using namespace ambit::optim;

namespace {

Tensor parameter(Device device, const Dims& sizes = {3}) {
  return wave(device, sizes, 0.4).requires_grad_();
}

}  // namespace

TEST_CASE(
    "an optimizer of torch.optim refuses options out of range as PyTorch does, by their names") {
  const Parameters p = {parameter(kCPU)}, matrix = {parameter(kCPU, {3, 2})};
  const auto refuses = [](auto make, const char* text) {
    CHECK_THROWS_WITH_AS(make(), text, Error);
  };
  refuses([&] { NAdam(p, NAdamOptions(-1)); }, "NAdam: expected lr of at least 0, got -1");
  refuses(
      [&] {
        NAdam(p, NAdamOptions().betas({1, 0.9}));
      },
      "NAdam: expected betas in [0, 1), got 1");
  refuses([&] { NAdam(p, NAdamOptions().momentum_decay(-1)); },
          "NAdam: expected momentum_decay of at least 0, got -1");
  refuses(
      [&] {
        RAdam(p, RAdamOptions().betas({0.9, -0.1}));
      },
      "RAdam: expected betas in [0, 1), got -0.1");
  refuses([&] { RAdam(p, RAdamOptions().weight_decay(std::nan(""))); },
          "RAdam: expected weight_decay of at least 0, got nan");
  refuses([&] { Adadelta(p, AdadeltaOptions().rho(1.5)); },
          "Adadelta: expected rho in [0, 1], got 1.5");
  refuses([&] { Adamax(p, AdamaxOptions().eps(-1)); },
          "Adamax: expected eps of at least 0, got -1");
  refuses([&] { ASGD(p, ASGDOptions().lambd(-1)); }, "ASGD: expected lambd of at least 0, got -1");
  refuses(
      [&] {
        Rprop(p, RpropOptions().etas({0.5, 1}));
      },
      "Rprop: expected etas with 0 < etas[0] < 1 < etas[1], got 0.5 and 1");
  refuses([&] { Muon(matrix, MuonOptions().momentum(-1)); },
          "Muon: expected momentum of at least 0, got -1");
  refuses([&] { Muon(matrix, MuonOptions().ns_steps(100)); },
          "Muon: expected ns_steps below 100, got 100");
  refuses([&] { Muon(matrix, MuonOptions().adjust_lr_fn("other")); },
          "Muon: expected \"original\", \"match_rms_adamw\", \"spectral_unclamped\" or no "
          "adjust_lr_fn, got \"other\"");
  Adadelta(p, AdadeltaOptions().rho(1));
  Muon(matrix, MuonOptions().ns_steps(-1));
}

TEST_CASE("Muon refuses parameters that are not matrices") {
  const Tensor p = parameter(kCPU), matrix = parameter(kCPU, {3, 2});
  CHECK_THROWS_WITH_AS(Muon({p}), "Muon: expected parameters of 2 dims, got one of shape [3]",
                       ShapeError);
  Muon muon({matrix});
  muon.add_param_group(OptimizerParamGroup({p}));
  p.mutable_grad() = ones({3}, kFloat64);
  matrix.mutable_grad() = ones({3, 2}, kFloat64);
  const Tensor before = matrix.detach().clone();
  CHECK_THROWS_WITH_AS(
      muon.step(), "muon_step: expected parameters of 2 dims, got one of shape [3]", ShapeError);
  CHECK(matrix.equal(before));
}

TEST_CASE("Rprop compares the signs of gradients whose product underflows") {
  for_each_device([](Device device) {
    const Tensor p = zeros({2}, device).requires_grad_();
    Rprop rprop({p}, RpropOptions(0.5).etas({0.5, 2}));
    for (const float second : {1e-30F, -1e-30F}) {
      p.mutable_grad() = tensor({1e-30F, second}).to(device);
      rprop.step();
    }
    // The first element's step doubles; the second's halves, and the element is not updated.
    CHECK(p.detach().cpu().equal(tensor({-1.5F, -0.5F})));
    CHECK(rprop.state().at(p.impl())["step_size"].cpu().equal(tensor({1.F, 0.25F})));
  });
}

TEST_CASE("Rprop continues after an infinite gradient") {
  for_each_device([](Device device) {
    const Tensor p = zeros({1}, device).requires_grad_();
    Rprop rprop({p}, RpropOptions(0.5));
    for (const float g : {1.F, -INFINITY, 1.F}) {
      p.mutable_grad() = tensor({g}).to(device);
      rprop.step();
    }
    // PyTorch 2.15: tensor([-0.7500])
    CHECK(p.detach().cpu().equal(tensor({-0.75F})));
  });
}

TEST_CASE("maximize does not change the gradients, and is an option of each group") {
  for_each_device([](Device device) {
    const Tensor p = ones({2}, device).requires_grad_(), q = ones({2}, device).requires_grad_();
    SGD sgd({OptimizerParamGroup({p}),
             OptimizerParamGroup({q}, SGDOptions(0.5).maximize(true).clone())},
            SGDOptions(0.5));
    p.mutable_grad() = ones({2}, device);
    q.mutable_grad() = ones({2}, device);
    sgd.step();
    CHECK(p.detach().cpu().equal(full({2}, 0.5)));
    CHECK(q.detach().cpu().equal(full({2}, 1.5)));
    CHECK(q.grad().cpu().equal(ones({2})));
  });
}

TEST_CASE("ASGD averages the parameters from step t0 on") {
  // o = torch.optim.ASGD([p], lr=.5, lambd=0, t0=1); p.grad = 1, four steps: p is -2, ax as here
  for_each_device([](Device device) {
    const Tensor p = zeros({1}, device).requires_grad_();
    ASGD asgd({p}, ASGDOptions(0.5).lambd(0).t0(1));
    p.mutable_grad() = ones({1}, device);
    for (int i = 0; i < 4; ++i) asgd.step();
    CHECK(p.item<float>() == -2);
    CHECK(asgd.state().at(p.impl())["ax"].item<float>() == -1.75);
  });
}

TEST_CASE("LBFGS with maximize equals LBFGS on the negated loss") {
  for_each_device([](Device device) {
    for (const char* search : {"", "strong_wolfe"}) {
      const auto run = [&](bool maximize) {
        const Tensor p = parameter(device);
        LBFGSOptions options = LBFGSOptions(0.5).max_iter(4).maximize(maximize);
        if (*search) options.line_search_fn(search);
        LBFGS lbfgs({p}, options);
        for (int i = 0; i < 3; ++i) {
          const Tensor loss = lbfgs.step([&] {
            lbfgs.zero_grad();
            Tensor value = (p - 1).pow(4).sum() * (maximize ? -1 : 1);
            value.backward();
            return value;
          });
          CHECK((loss.item<double>() < 0) == maximize);
        }
        return p.detach();
      };
      CHECK(run(true).equal(run(false)));
    }
    // o = torch.optim.LBFGS([p], lr=.5, max_iter=4, maximize=True), three steps, PyTorch 2.15
    const Tensor p = parameter(device);
    LBFGS lbfgs({p}, LBFGSOptions(0.5).max_iter(4).maximize(true));
    for (int i = 0; i < 3; ++i) {
      lbfgs.step([&] {
        lbfgs.zero_grad();
        Tensor value = -(p - 1).pow(4).sum();
        value.backward();
        return value;
      });
    }
    check_values(p, {3}, {0.885155013633, 0.898190874405, 0.926095500065});
  });
}
