// Optimizers compared with PyTorch 1.13 in float64. p = wave(4, k=.4) of expected.h; five times
//   o.zero_grad(); ((p**3).sum() + i * p[0]).backward(); o.step()   for i in range(5)
#include <ambit/nn/linear.h>
#include <ambit/nn/sequential.h>
#include <ambit/ops/random.h>
#include <ambit/optim/optim.h>
#include <doctest/doctest.h>

#include "tests/devices.h"
#include "tests/expected.h"
#include "tests/mismatch/mismatch.h"

using namespace ambit;
using optim::AdamOptions;
using optim::AdamWOptions;
using optim::OptimizerParamGroup;
using optim::SGDOptions;

namespace {

void iterate(optim::Optimizer& optimizer, const Tensor& p, int from, int to) {
  for (int i = from; i < to; ++i) {
    optimizer.zero_grad();
    (p.pow(3).sum() + i * p[0]).backward();
    optimizer.step();
  }
}

Tensor parameter(Device device, double k = 0.4) { return wave(device, {4}, k).requires_grad_(); }

// The first parameter grows by its square, which multiplies an error of the quoted 13 digits by
// less than 100 in five steps.
template <class Optimizer, class Options>
void check_run(const char* name, const Options& options, const std::vector<double>& expected) {
  INFO(std::string(name));
  for_each_device([&](Device device) {
    const Tensor p = parameter(device);
    Optimizer optimizer({p}, options);
    iterate(optimizer, p, 0, 5);
    check_values(p, {4}, expected);
  });
}

}  // namespace

TEST_CASE("SGD has PyTorch's values, with every option") {
  const auto check = check_run<optim::SGD, SGDOptions>;
  check("lr=.1", 0.1, {-1.149817928957, 0.2366741192313, 0.3161553808364, 0.3437597360813});
  check("momentum=.9", SGDOptions(0.1).momentum(0.9),
        {-2.253889512821, 0.002753775742369, -0.3394884280247, -0.720353738262});
  check("momentum=.9, dampening=.3", SGDOptions(0.1).momentum(0.9).dampening(0.3),
        {-1.429964725733, 0.05393165230528, -0.2254435618264, -0.5426204000696});
  check("weight_decay=.05", SGDOptions(0.1).weight_decay(0.05),
        {-1.14377799254, 0.2312934881386, 0.3092250734456, 0.3363119825487});
  check("momentum=.8, nesterov=True", SGDOptions(0.1).momentum(0.8).nesterov(true),
        {-3.99655992939, 0.05660608663558, -0.1025631349016, -0.2879168976141});
  check("lr=.05, momentum=.7, dampening=.2, weight_decay=.1",
        SGDOptions(0.05).momentum(0.7).dampening(0.2).weight_decay(0.1),
        {-0.6570113891766, 0.2173149423371, 0.2337867164066, 0.1917534965121});
  check("lr=.05, momentum=.7, weight_decay=.1, nesterov=True",
        SGDOptions(0.05).momentum(0.7).weight_decay(0.1).nesterov(true),
        {-1.177606166591, 0.1847327560197, 0.1887742328125, 0.1560950763109});
}

TEST_CASE("Adam and AdamW have PyTorch's values") {
  check_run<optim::Adam, AdamOptions>(
      "Adam", 0.1, {-0.3339512705397, -0.02640854189847, 0.2514684237424, 0.4543867211913});
  check_run<optim::Adam>("Adam, lr=.05, betas=(.8, .95), eps=1e-4, weight_decay=.1",
                         AdamOptions(0.05).betas({0.8, 0.95}).eps(1e-4).weight_decay(0.1),
                         {-0.1765825437048, 0.1573259268109, 0.4748894092236, 0.6873528116721});
  check_run<optim::AdamW, AdamWOptions>(
      "AdamW", 0.1, {-0.3334767583266, -0.02707100357782, 0.2492126172319, 0.4510225316728});
  check_run<optim::AdamW>("AdamW, lr=.05, betas=(.8, .95), eps=1e-4, weight_decay=.3",
                          AdamWOptions(0.05).betas({0.8, 0.95}).eps(1e-4).weight_decay(0.3),
                          {-0.1728528934189, 0.1402511790839, 0.4324700974577, 0.62896218491});
}

TEST_CASE("Adam and AdamW with step counts on the parameters' device have the same values") {
  check_run<optim::Adam>("Adam, capturable=True", AdamOptions(0.1).capturable(true),
                         {-0.3339512705397, -0.02640854189847, 0.2514684237424, 0.4543867211913});
  check_run<optim::AdamW>(
      "AdamW, lr=.05, betas=(.8, .95), eps=1e-4, weight_decay=.3, capturable",
      AdamWOptions(0.05).betas({0.8, 0.95}).eps(1e-4).weight_decay(0.3).capturable(true),
      {-0.1728528934189, 0.1402511790839, 0.4324700974577, 0.62896218491});
}

TEST_CASE("a capturable Adam counts the steps of each parameter; the option may change") {
  for_each_device([](Device device) {
    const Tensor p = parameter(device), q = parameter(device), r = parameter(device);
    optim::Adam adam({p, q}, AdamOptions(0.1).capturable(true)), other({r}, AdamOptions(0.1));
    iterate(adam, p, 0, 2);  // q has no gradient
    for (int i = 2; i < 5; ++i) {
      adam.zero_grad();
      ((p.pow(3) + q.pow(3)).sum() + i * p[0] + (i - 2) * q[0]).backward();
      adam.step();
    }
    const Tensor& step = adam.state().at(p.impl())["step"];
    CHECK(step.device() == p.device());
    CHECK(step.dtype() == kFloat32);
    const StateDict state = adam.state_dict();
    CHECK(state[0].second.device().is_cpu());
    CHECK(state[0].second.item<int64_t>() == 5);
    CHECK(state[3].second.item<int64_t>() == 3);
    CHECK(adam.checkpoint()["state"][1]["step"].to_tensor().item<float>() == 3);
    // Three steps and two more equal five, whether counts are on the host or on the device.
    iterate(other, r, 0, 3);
    optim::Adam third({r}, AdamOptions(0.1).capturable(true));
    third.load_state_dict(other.state_dict());
    iterate(third, r, 3, 4);
    static_cast<AdamOptions&>(third.param_groups()[0].options()).capturable(false);
    iterate(third, r, 4, 5);
    CHECK(third.state_dict()[0].second.item<int64_t>() == 5);
    check_values(p, {4}, {-0.3339512705397, -0.02640854189847, 0.2514684237424, 0.4543867211913});
    check_values(r, {4}, {-0.3339512705397, -0.02640854189847, 0.2514684237424, 0.4543867211913});
  });
  CHECK_THROWS_WITH(optim::Adam({parameter({})}, AdamOptions().amsgrad(true).capturable(true)),
                    "Adam: expected amsgrad or capturable, got both");
}

TEST_CASE("parameter groups have their own options") {
  // q = wave(4, k=.9); o = SGD([{'params': [p]}, {'params': [q], 'lr': .02}], lr=.1, momentum=.5);
  // three times (p**3 + q**3).sum().backward()
  for_each_device([](Device device) {
    const Tensor p = parameter(device), q = parameter(device, 0.9);
    optim::SGD optimizer(
        {OptimizerParamGroup({p}), OptimizerParamGroup({q}, SGDOptions(0.02).clone())},
        SGDOptions(0.1).momentum(0.5));
    for (int i = 0; i < 3; ++i) {
      optimizer.zero_grad();
      (p.pow(3) + q.pow(3)).sum().backward();
      optimizer.step();
    }
    check_values(p, {4}, {0, 0.2320900686983, 0.2587724651614, 0.2236834321641});
    check_values(q, {4}, {0, 0.6397900795079, 0.7564576133505, 0.3829689224145});
    CHECK(optimizer.parameters().size() == 2);
    CHECK(optimizer.param_groups()[1].options().get_lr() == 0.02);
  });
}

TEST_CASE("a learning rate can be changed between steps") {
  const Tensor p = ones({1}).requires_grad_();
  optim::SGD optimizer({p}, 0.5);
  (p * 2).backward();
  optimizer.step();
  CHECK(p.item<float>() == 0);
  for (auto& group : optimizer.param_groups()) group.options().set_lr(0.25);
  optimizer.step();
  CHECK(p.item<float>() == -0.5);
  static_cast<SGDOptions&>(optimizer.param_groups()[0].options()).lr(1);
  optimizer.step();
  CHECK(p.item<float>() == -2.5);
}

TEST_CASE("step runs a closure with gradients enabled and returns its loss") {
  const Tensor p = ones({2}).requires_grad_();
  optim::SGD optimizer({p}, 0.5);
  const NoGradGuard no_grad;
  const Tensor loss = optimizer.step([&] {
    optimizer.zero_grad();
    Tensor sum = p.sum();
    sum.backward();
    return sum;
  });
  CHECK(loss.item<float>() == 2);
  CHECK(p.equal(full({2}, 0.5)));
  CHECK_FALSE(optimizer.step().defined());
}

TEST_CASE("a parameter without a gradient is unchanged") {
  const Tensor p = ones({2}).requires_grad_(), q = ones({2}).requires_grad_();
  optim::SGD optimizer({p, q}, SGDOptions(0.5).momentum(0.9).weight_decay(1));
  p.sum().backward();
  optimizer.step();
  CHECK(q.equal(ones({2})));
  CHECK(optimizer.state_dict().size() == 1);
}

TEST_CASE("zero_grad drops gradients or fills them with zeros") {
  const Tensor p = ones({2}).requires_grad_();
  optim::SGD optimizer({p}, 0.5);
  p.sum().backward();
  optimizer.zero_grad(/*set_to_none=*/false);
  CHECK(p.grad().equal(zeros({2})));
  optimizer.zero_grad();
  CHECK_FALSE(p.grad().defined());
}

TEST_CASE("strided parameters and expanded gradients are updated like others") {
  for_each_device([](Device device) {
    const Tensor p = wave(device, {2, 3}).t().detach().requires_grad_(), q = p.detach().clone();
    optim::SGD optimizer({p}, SGDOptions(0.5).momentum(0.9));
    for (int i = 0; i < 2; ++i) {
      p.mutable_grad() = ones({1, 1}, p.options()).expand({3, 2});
      optimizer.step();
    }
    // The change of both steps is 0.5 * 1 + 0.5 * (0.9 + 1), with two roundings of 1.1e-16 each.
    CHECK(p.allclose(q - 1.45, 1e-15, 1e-15));
    CHECK(p.stride(0) == 1);
  });
}

TEST_CASE("a step is a change that graphs detect") {
  const Tensor p = ones({2}).requires_grad_();
  optim::SGD optimizer({p}, 0.5);
  const Tensor y = (p * p).sum();
  y.backward({}, /*retain_graph=*/true);
  optimizer.step();
  CHECK_THROWS_AS(y.backward(), AutogradError);
}

TEST_CASE("parameters in one call of the kernel are updated as in separate calls") {
  for_each_device([](Device device) {
    const auto check = [&](auto make) {
      manual_seed(1);
      std::vector<Tensor> together, alone;
      // One parameter has no elements, and one has no gradient.
      for (const Dims& sizes : {Dims{3, 2}, Dims{}, Dims{0}, Dims{1}, Dims{2, 1, 2}, Dims{300}}) {
        const Tensor p = randn(sizes, TensorOptions(kFloat64)).to(device);
        together.push_back(p.clone().requires_grad_());
        alone.push_back(p.clone().requires_grad_());
      }
      const auto all = make(together);
      std::vector<decltype(make(together))> each;
      for (const Tensor& p : alone) each.push_back(make({p}));
      for (int step = 0; step < 3; ++step) {
        for (size_t i = 0; i < alone.size(); ++i) {
          if (i == 3 && step == 1) continue;  // from now on this parameter is one step late
          const Tensor g = randn(alone[i].sizes(), TensorOptions(kFloat64)).to(device);
          together[i].mutable_grad() = g;
          alone[i].mutable_grad() = g;
          each[i]->step();
        }
        all->step();
        all->zero_grad();
      }
      for (size_t i = 0; i < alone.size(); ++i) CHECK(together[i].equal(alone[i]));
    };
    using Parameters = std::vector<Tensor>;
    check([](const Parameters& p) {
      return std::make_unique<optim::SGD>(p, SGDOptions(0.1).momentum(0.9).dampening(0.5));
    });
    check([](const Parameters& p) { return std::make_unique<optim::Adam>(p, 0.1); });
    check([](const Parameters& p) { return std::make_unique<optim::AdamW>(p, 0.1); });
  });
}

TEST_CASE("steps after the first allocate nothing on the device") {
  for_each_device([](Device device) {
    const Tensor p = parameter(device), q = parameter(device);
    optim::Adam adam({p, q}, 0.1);
    optim::SGD sgd({p, q}, SGDOptions(0.1).momentum(0.9));
    p.mutable_grad() = ones_like(p);
    q.mutable_grad() = ones_like(q);
    adam.step();
    sgd.step();
    const mismatch::Watch watch({device});
    adam.step();
    sgd.step();
    CHECK(watch.is_quiet());
  });
}

TEST_CASE("zero_grad keeps the gradient that it fills with zeros, but not its history") {
  const Tensor p = ones({2}).requires_grad_();
  optim::SGD optimizer({p}, 0.5);
  const Tensor g = ones({2});
  p.mutable_grad() = g;
  optimizer.zero_grad(/*set_to_none=*/false);
  CHECK(p.grad().is_same(g));
  p.mutable_grad() = p * 2;
  optimizer.zero_grad(/*set_to_none=*/false);
  CHECK_FALSE(p.grad().requires_grad());
  CHECK(p.grad().equal(zeros({2})));
}

TEST_CASE("the state of a parameter can be read, changed and moved to another parameter") {
  const Tensor p = ones({2}).requires_grad_();
  optim::Adam adam({p});
  CHECK_THROWS_AS(adam.state()[p.impl()].step(), Error);  // no state yet
  adam.state().clear();
  p.sum().backward();
  adam.step();
  auto& state = static_cast<optim::AdamParamState&>(*adam.state().at(p.impl()));
  CHECK(state.step() == 1);
  CHECK(state.exp_avg().is_same(state["exp_avg"]));
  CHECK_THROWS_AS(state.momentum_buffer(), Error);
  CHECK(!state.max_exp_avg_sq().defined());
  state.step(7);
  CHECK(adam.state_dict()[0].second.item<int64_t>() == 7);
  state.exp_avg(full({2}, 3));

  const Tensor q = zeros({2}).requires_grad_();
  adam.state()[q.impl()] = std::make_unique<optim::AdamParamState>(state);
  adam.state().erase(p.impl());
  adam.param_groups()[0].params()[0] = q;
  q.sum().backward();
  adam.step();
  const optim::AdamParamState& moved = adam.state().at(q.impl());
  CHECK(moved.step() == 8);
  // beta1 3 + (1 - beta1) 1 = 2.8, within a rounding of each product and of the sum.
  CHECK(allclose(moved.exp_avg(), full({2}, 2.8), 0, 3 * 2.8 * 0x1p-24));
  CHECK(adam.state().size() == 1);
}
