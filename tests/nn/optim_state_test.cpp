// Optimizers: state that moves with its parameter, state dicts, and errors.
#include <ambit/nn/linear.h>
#include <ambit/ops/random.h>
#include <ambit/optim/optim.h>
#include <doctest/doctest.h>

#include <cmath>

#include "tests/devices.h"
#include "tests/expected.h"

using namespace ambit;
using optim::AdamOptions;
using optim::AdamWOptions;
using optim::OptimizerParamGroup;
using optim::SGDOptions;

namespace {

void step(optim::Optimizer& optimizer, const Tensor& p) {
  optimizer.zero_grad();
  p.pow(3).sum().backward();
  optimizer.step();
}

Tensor parameter(Device device = {}) { return wave(device, {4}, 0.4).requires_grad_(); }

// Return the results of five steps in which the parameter moves to `device` after two and back
// after four.
template <class Optimizer, class Options>
Tensor moved_run(const Options& options, Device device) {
  const Tensor p = parameter();
  Optimizer optimizer({p}, options);
  for (int i = 0; i < 5; ++i) {
    if (i == 2) p.set_data(p.detach().to(device));
    if (i == 4) p.set_data(p.detach().to(kCPU));
    step(optimizer, p);
    for (const auto& [name, state] : optimizer.state_dict()) {
      CHECK((state.device() == p.device() || state.dim() == 0));
    }
  }
  return p;
}

}  // namespace

TEST_CASE("state moves with a parameter that moves between steps") {
  for_each_device([](Device device) {
    const SGDOptions sgd = SGDOptions(0.1).momentum(0.9).dampening(0.2);
    // Backends may round the last bit differently: 5 steps of a few roundings of 1.1e-16.
    CHECK(moved_run<optim::SGD>(sgd, device)
              .allclose(moved_run<optim::SGD>(sgd, kCPU), 1e-14, 1e-14));
    CHECK(moved_run<optim::Adam>(AdamOptions(0.1), device)
              .allclose(moved_run<optim::Adam>(AdamOptions(0.1), kCPU), 1e-14, 1e-14));
  });
}

TEST_CASE("an optimizer created before its module moves continues") {
  for_each_device([](Device device) {
    nn::Linear fc(3, 2);
    optim::SGD optimizer(fc->parameters(), SGDOptions(0.1).momentum(0.9));
    fc(ones({1, 3})).sum().backward();
    optimizer.step();
    fc->to(device, kFloat64);
    const Tensor before = fc->bias.detach().clone();
    optimizer.step();  // with the gradient, which has moved, too
    // buf = 0.9 * 1 + 1; float32's 0.9 and 0.1 have relative errors below 6e-8.
    CHECK(fc->bias.allclose(before - 0.19, 0, 1e-7));
    for (const auto& [name, state] : optimizer.state_dict()) {
      CHECK(state.device() == device);
      CHECK(state.dtype() == kFloat64);
    }
  });
}

TEST_CASE("a model with several devices and dtypes trains with one optimizer") {
  for_each_device([](Device device) {
    const Tensor p = parameter(), q = parameter(device);
    const Tensor r = q.detach().to(kFloat32).requires_grad_();
    optim::SGD optimizer({p, q, r}, SGDOptions(0.1).momentum(0.9));
    for (int i = 0; i < 2; ++i) {
      optimizer.zero_grad();
      (p.pow(3).sum() + q.pow(3).sum().to(kCPU) + r.pow(3).sum().to(kCPU, kFloat64)).backward();
      optimizer.step();
    }
    CHECK(q.cpu().allclose(p, 1e-14, 1e-14));             // two steps of a few roundings of 1.1e-16
    CHECK(r.cpu().to(kFloat64).allclose(p, 1e-5, 1e-6));  // roundings of 6e-8
  });
}

TEST_CASE("training continues from a state dict") {
  for_each_device([](Device device) {
    const auto check = [&](auto make) {
      const Tensor p = parameter(), q = parameter(device);
      auto first = make(p);
      step(*first, p);
      step(*first, p);
      auto second = make(q);
      q.set_data(p.detach().to(device, q.dtype(), false, true));
      second->load_state_dict(first->state_dict());
      step(*first, p);
      step(*second, q);
      CHECK(q.cpu().allclose(p, 1e-14, 1e-14));  // one step of a few roundings of 1.1e-16
    };
    check([](const Tensor& p) {
      return std::make_unique<optim::SGD>(std::vector{p}, SGDOptions(0.1).momentum(0.9));
    });
    check([](const Tensor& p) { return std::make_unique<optim::Adam>(std::vector{p}, 0.1); });
  });
}

TEST_CASE("an invalid state dict is refused as a whole") {
  const Tensor p = parameter(), q = parameter();
  optim::Adam adam({p, q}, 0.1);
  step(adam, p);
  const StateDict before = adam.state_dict();
  CHECK(before.size() == 3);
  CHECK(before[0].first == "0.step");
  CHECK_THROWS_WITH(adam.load_state_dict({{"0.step", full({}, 3)},
                                          {"0.exp_avg", ones({3}, kFloat64)},
                                          {"0.exp_avg_sq", ones({4})},
                                          {"2.step", full({}, 3)},
                                          {"1.momentum_buffer", ones({4}, kFloat64)},
                                          {"step", full({}, 3)},
                                          {"1x.step", full({}, 3)},
                                          {"0.step", full({}, 3)},
                                          {"1.exp_avg", ones({4}, kFloat64)}}),
                    "load_state_dict: expected this optimizer's state, got"
                    "\n  0.exp_avg: expected float64[4], got float64[3]"
                    "\n  0.exp_avg_sq: expected float64[4], got float32[4]"
                    "\n  2.step: unexpected"
                    "\n  1.momentum_buffer: unexpected"
                    "\n  step: unexpected"
                    "\n  1x.step: unexpected"
                    "\n  0.step: given twice"
                    "\n  1.step: missing"
                    "\n  1.exp_avg_sq: missing");
  CHECK(adam.state_dict()[0].second.item<int64_t>() == 1);
  CHECK(adam.state_dict().size() == 3);
}

TEST_CASE("a gradient on another device is an error before any update") {
  for_each_device([](Device device) {
    if (device.is_cpu()) return;
    nn::Linear fc(2, 2);
    fc->weight.mutable_grad() = ones({2, 2});
    fc->bias.mutable_grad() = ones({2}, device);
    const Tensor before = fc->weight.detach().clone();
    const auto check = [&](optim::Optimizer& optimizer, const char* op) {
      try {
        optimizer.step();
        FAIL("expected DeviceMismatchError");
      } catch (const DeviceMismatchError& e) {
        CHECK(std::string(e.what()) == "expected device cpu but got device " + device.str());
        CHECK(e.op() == op);
        CHECK(e.argument() == "grad");
        CHECK(e.explain().find("bias") != std::string::npos);
      }
      CHECK(fc->weight.equal(before));
      CHECK(optimizer.state_dict().empty());
    };
    optim::SGD sgd(fc->parameters(), SGDOptions(0.1).momentum(0.9));
    check(sgd, "sgd_step");
    optim::Adam adam(fc->parameters());
    check(adam, "adam_step");
    optim::AdamW adamw(fc->parameters());
    check(adamw, "adamw_step");
  });
}

TEST_CASE(
    "a gradient of another dtype or shape, or an invalid option, is an error before any update") {
  const Tensor p = ones({2}).requires_grad_(), q = ones({2}).requires_grad_();
  optim::SGD optimizer({p, q}, 0.5);
  p.mutable_grad() = ones({2});
  q.mutable_grad() = ones({2}, kFloat64);
  CHECK_THROWS_AS(optimizer.step(), DTypeError);
  q.mutable_grad() = ones({1});
  CHECK_THROWS_AS(optimizer.step(), ShapeError);
  q.mutable_grad() = ones({2});
  optimizer.param_groups()[0].options().set_lr(-1);
  CHECK_THROWS_AS(optimizer.step(), Error);
  CHECK(p.equal(ones({2})));
}

TEST_CASE("a parameter with a changed shape does not match its state") {
  const Tensor p = ones({2}).requires_grad_();
  optim::SGD optimizer({p}, SGDOptions(0.5).momentum(0.9));
  step(optimizer, p);
  optimizer.zero_grad();
  p.set_data(ones({3}));
  p.mutable_grad() = ones({3});
  CHECK_THROWS_WITH_AS(optimizer.step(), "sgd_step: expected momentum_buffer of shape [3], got [2]",
                       ShapeError);
  CHECK(p.equal(ones({3})));
}

TEST_CASE("a parameter that replaces another in a group starts without state") {
  optim::SGD optimizer({ones({2}).requires_grad_()}, SGDOptions(0.5).momentum(0.9));
  Tensor& held = optimizer.param_groups()[0].params()[0];
  step(optimizer, held);
  held = ones({2}).requires_grad_();
  step(optimizer, held);
  CHECK(held.equal(full({2}, -0.5)));  // 1 - 0.5 * 3, without momentum
}

TEST_CASE("state stays with its parameter when groups are edited") {
  const auto make = [](double k) { return wave({}, {2}, k).requires_grad_(); };
  const Tensor p = make(1), q = make(2), r = make(3), expected = make(3);
  optim::SGD optimizer({p, q, r}, SGDOptions(0.5).momentum(0.9));
  optim::SGD alone({expected}, SGDOptions(0.5).momentum(0.9));
  (p + q + r).sum().backward();
  expected.sum().backward();
  optimizer.step();
  alone.step();
  auto& params = optimizer.param_groups()[0].params();
  params = {r, p};
  optimizer.step();
  alone.step();
  CHECK(r.equal(expected));
  CHECK(optimizer.state_dict().size() == 2);
  CHECK(optimizer.state_dict()[0].second.equal(full({2}, 1.9, TensorOptions(kFloat64))));
}

TEST_CASE("momentum that is enabled later starts with the gradient of that step") {
  const Tensor p = zeros({1}).requires_grad_();
  optim::SGD optimizer({p}, SGDOptions(1).dampening(0.5));
  p.mutable_grad() = ones({1});
  optimizer.step();
  static_cast<SGDOptions&>(optimizer.param_groups()[0].options()).momentum(0.5);
  optimizer.step();
  CHECK(p.item<float>() == -2);  // without dampening
  optimizer.step();
  CHECK(p.item<float>() == -3);  // 0.5 * 1 + 0.5 * 1
}

TEST_CASE("options out of range are refused") {
  const std::vector<Tensor> params = {ones({2}).requires_grad_()};
  for (const double bad : {-0.1, static_cast<double>(NAN)}) {
    CHECK_THROWS_AS(optim::SGD(params, bad), Error);
    CHECK_THROWS_AS(optim::SGD(params, SGDOptions(0.1).momentum(bad)), Error);
    CHECK_THROWS_AS(optim::SGD(params, SGDOptions(0.1).weight_decay(bad)), Error);
    CHECK_THROWS_AS(optim::Adam(params, bad), Error);
    CHECK_THROWS_AS(optim::Adam(params, AdamOptions().eps(bad)), Error);
    CHECK_THROWS_AS(optim::Adam(params, AdamOptions().weight_decay(bad)), Error);
    CHECK_THROWS_AS(optim::Adam(params, AdamOptions().betas({bad, 0.9})), Error);
  }
  CHECK_THROWS_AS(optim::AdamW(params, AdamWOptions().betas({0.9, 1})), Error);
  CHECK_THROWS_AS(optim::SGD(params, SGDOptions(0.1).nesterov(true)), Error);
  CHECK_THROWS_AS(optim::SGD(params, SGDOptions(0.1).momentum(0.9).dampening(0.1).nesterov(true)),
                  Error);
}

TEST_CASE("groups refuse tensors that cannot be trained, and parameters that they already have") {
  const Tensor p = ones({2}).requires_grad_(), q = ones({2}).requires_grad_();
  optim::SGD optimizer({p}, 0.1);
  CHECK_THROWS_AS(optimizer.add_param_group({{q, p}}), Error);
  CHECK_THROWS_AS(optimizer.add_param_group({{q, q}}), Error);
  CHECK_THROWS_AS(optimizer.add_param_group({{q, Tensor()}}), Error);
  CHECK_THROWS_AS(optimizer.add_param_group({{q, q * 2}}), Error);
  CHECK_THROWS_AS(optimizer.add_param_group({{q}, AdamOptions().clone()}), Error);
  CHECK_THROWS_AS(optimizer.add_param_group({{q}, SGDOptions(-1).clone()}), Error);
  CHECK(optimizer.parameters().size() == 1);
  optimizer.add_param_group({{q}});
  CHECK(optimizer.param_groups().size() == 2);
  CHECK_THROWS_AS(OptimizerParamGroup({q}).options(), Error);
  CHECK_THROWS_AS(optim::SGD({nn::Linear(1, 1)->weight, p, p}, 0.1), Error);
}
