// Twenty steps of every optimizer compared with PyTorch 1.13 in float64. p = wave(4, k=.4) of
// expected.h;
//   o.zero_grad(); ((p**4).sum() / 4 + .1 * i * p[0]).backward(); o.step()   for i in range(20)
#include <ambit/autograd.h>
#include <ambit/error.h>
#include <ambit/ops/creation.h>
#include <ambit/ops/elementwise.h>
#include <ambit/ops/random.h>
#include <ambit/ops/reduce.h>
#include <ambit/optim/optim.h>
#include <doctest/doctest.h>

#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "tests/devices.h"
#include "tests/expected.h"
#include "tests/nn/optimizer_case.h"

using namespace ambit;
using namespace ambit::optim;

namespace {

// Names, because backends are not searched before main().
const std::pair<const char*, const char*> kPairs[] = {
    {"cpu", "reference"}, {"reference", "cpu"}, {"cpu", "sim"}, {"sim", "cpu"}};

const std::vector<Case>& cases() {
  static const std::vector<Case> all = {
      {"SGD(lr=.1, momentum=.9)",
       made<SGD>(SGDOptions(0.1).momentum(0.9)),
       {-1.382290807268, 0.07361176196013, -0.3107159817031, -0.4026984666561}},
      {"Adam(lr=.1)",
       made<Adam>(AdamOptions(0.1)),
       {-1.26884686568, -0.1059477965182, -0.2312451838762, -0.1401512124713}},
      {"Adam(lr=.1, amsgrad=True)",
       made<Adam>(AdamOptions(0.1).amsgrad(true)),
       {-1.26884686568, -0.1061458200883, -0.2302377801142, -0.1391466338668}},
      {"Adam(lr=.05, betas=(.8, .7), eps=1e-4, weight_decay=.1, amsgrad=True)",
       made<Adam>(AdamOptions(0.05).betas({0.8, 0.7}).eps(1e-4).weight_decay(0.1).amsgrad(true)),
       {-0.8152118280056, -0.02100527383717, 0.1809998513184, 0.3404937287573}},
      {"AdamW(lr=.05, betas=(.8, .7), eps=1e-4, weight_decay=.3, amsgrad=True)",
       made<AdamW>(AdamWOptions(0.05).betas({0.8, 0.7}).eps(1e-4).weight_decay(0.3).amsgrad(true)),
       {-0.7137298256217, 0.03032632925277, 0.1695952902604, 0.2772374317772}},
      {"Adagrad(lr=.1)",
       made<Adagrad>(AdagradOptions(0.1)),
       {-1.003013273185, 0.1179118096514, 0.3133933889327, 0.4702810570521}},
      {"Adagrad(lr=.2, lr_decay=.05, weight_decay=.1, initial_accumulator_value=.3, eps=1e-3)",
       made<Adagrad>(
           AdagradOptions(0.2).lr_decay(0.05).weight_decay(0.1).initial_accumulator_value(0.3).eps(
               1e-3)),
       {-1.023568123818, 0.166205032882, 0.255599520997, 0.3578282170146}},
      {"RMSprop()",
       made<RMSprop>(RMSpropOptions()),
       {-1.01081080212, 0.1155392911377, 0.3083482025742, 0.463809208308}},
      {"RMSprop(lr=.02, alpha=.9, eps=1e-3, weight_decay=.1, momentum=.5)",
       made<RMSprop>(RMSpropOptions(0.02).alpha(0.9).eps(1e-3).weight_decay(0.1).momentum(0.5)),
       {-1.180565776439, 0.002871715922072, 0.1645094363916, 0.3121773077825}},
      {"RMSprop(lr=.02, alpha=.9, centered=True)",
       made<RMSprop>(RMSpropOptions(0.02).alpha(0.9).centered(true)),
       {-1.028295827072, 0.1140138153698, 0.2966516638844, 0.4410644642414}},
      {"RMSprop(lr=.02, alpha=.8, centered=True, momentum=.7)",
       made<RMSprop>(RMSpropOptions(0.02).alpha(0.8).centered(true).momentum(0.7)),
       {-1.266448669227, 0.0009309049730042, 0.1080154377661, 0.1830584836658}},
  };
  return all;
}

void iterate(Optimizer& optimizer, const Tensor& p, int from, int to) {
  for (int i = from; i < to; ++i) {
    optimizer.zero_grad();
    (p.pow(4).sum() / 4 + 0.1 * i * p[0]).backward();
    optimizer.step();
  }
}

Tensor parameter(Device device) { return wave(device, {4}, 0.4).requires_grad_(); }

}  // namespace

TEST_CASE("every optimizer has PyTorch's values after twenty steps") {
  for (const Case& c : cases()) {
    INFO(std::string(c.call));
    for_each_device([&](Device device) {
      const Tensor p = parameter(device);
      const auto optimizer = c.make({p});
      iterate(*optimizer, p, 0, 20);
      check_values(p, {4}, c.expected);
    });
  }
}

TEST_CASE("every optimizer continues from its state, as a dict and as a checkpoint") {
  for (const Case& c : cases()) {
    INFO(std::string(c.call));
    const Tensor p = parameter(kCPU);
    const auto first = c.make({p});
    iterate(*first, p, 0, 7);
    for (const bool checkpoint : {false, true}) {
      const Tensor q = p.detach().clone().requires_grad_();
      const auto second = c.make({q});
      if (checkpoint) {
        for (auto& group : second->param_groups())
          group.options().set_lr(1e3);  // the state dict replaces it
        second->load_checkpoint(first->checkpoint());
      } else {
        second->load_state_dict(first->state_dict());
      }
      iterate(*second, q, 7, 20);
      check_values(q, {4}, c.expected);
    }
  }
}

TEST_CASE("an optimizer's parameters are updated together as separately") {
  for_each_device([](Device device) {
    for (const Case& c : cases()) {
      INFO(std::string(c.call));
      manual_seed(1);
      Parameters together, alone;
      for (const Dims& sizes : {Dims{3, 2}, Dims{}, Dims{0}, Dims{2, 1, 2}}) {
        const Tensor p = randn(sizes, TensorOptions(kFloat64)).to(device);
        together.push_back(p.clone().requires_grad_());
        alone.push_back(p.clone().requires_grad_());
      }
      const auto all = c.make(together);
      std::vector<std::unique_ptr<Optimizer>> each;
      for (const Tensor& p : alone) each.push_back(c.make({p}));
      for (int step = 0; step < 3; ++step) {
        for (size_t i = 0; i < alone.size(); ++i) {
          if (i == 3 && step == 1) continue;  // from now on this parameter is one step late
          const Tensor g = randn(alone[i].sizes(), TensorOptions(kFloat64)).to(device);
          together[i].mutable_grad() = alone[i].mutable_grad() = g;
          each[i]->step();
        }
        all->step();
        all->zero_grad();
      }
      for (size_t i = 0; i < alone.size(); ++i) CHECK(together[i].equal(alone[i]));
    }
  });
}

TEST_CASE("state has PyTorch's names") {
  const Tensor p = parameter(kCPU);
  RMSprop rmsprop({p}, RMSpropOptions().momentum(0.5));
  Adagrad adagrad({p});
  Adam adam({p}, AdamOptions().amsgrad(true));
  iterate(rmsprop, p, 0, 2);
  iterate(adagrad, p, 0, 1);
  iterate(adam, p, 0, 1);
  const auto& kept = rmsprop.state().at(p.impl());
  CHECK(kept["step"].item<int64_t>() == 2);
  CHECK(kept["square_avg"].sizes() == p.sizes());
  CHECK(kept["momentum_buffer"].defined());
  CHECK_FALSE(kept["grad_avg"].defined());
  CHECK_THROWS_AS(kept["exp_avg"], Error);
  const auto keys = [](const Value& dict) {
    std::string all;
    for (const auto& [key, value] : dict.entries()) all += key.to_string() + " ";
    return all;
  };
  CHECK(keys(rmsprop.checkpoint()["state"][0]) == "step square_avg momentum_buffer ");
  CHECK(keys(adagrad.checkpoint()["state"][0]) == "step sum ");
  CHECK(keys(adam.checkpoint()["state"][0]) == "step exp_avg exp_avg_sq max_exp_avg_sq ");
  CHECK(keys(adagrad.checkpoint()["param_groups"].items()[0]) ==
        "lr lr_decay eps weight_decay initial_accumulator_value maximize params ");
  CHECK(adam.checkpoint()["param_groups"].items()[0]["amsgrad"].to_bool());
}

TEST_CASE("an optimizer refuses options out of range, and invalid state") {
  const Tensor p = parameter(kCPU);
  CHECK_THROWS_WITH_AS(Adagrad({p}, AdagradOptions(-1)),
                       "Adagrad: expected lr of at least 0, got -1", Error);
  CHECK_THROWS_AS(Adagrad({p}, AdagradOptions().lr_decay(-1)), Error);
  CHECK_THROWS_AS(Adagrad({p}, AdagradOptions().initial_accumulator_value(-1)), Error);
  CHECK_THROWS_AS(RMSprop({p}, RMSpropOptions().alpha(-0.1)), Error);
  CHECK_THROWS_AS(RMSprop({p}, RMSpropOptions().momentum(-0.1)), Error);
  CHECK_THROWS_AS(RMSprop({p}, RMSpropOptions().eps(std::nan(""))), Error);
  RMSprop rmsprop({p});
  CHECK_THROWS_AS(rmsprop.load_state_dict({{"0.square_avg", zeros({4}, kFloat64)}}), Error);
  CHECK_THROWS_AS(rmsprop.load_checkpoint(Adagrad({p}).checkpoint()), Error);
}

TEST_CASE("an optimizer's gradient on another device, of another dtype or shape is refused") {
  for (const auto& [here, there] : kPairs) {
    const auto check = [here = here, there = there](auto make) {
      const Tensor p = parameter(here), before = p.detach().clone();
      const auto optimizer = make(Parameters{p});
      const auto refuses = [&]<class E>(E*, const Tensor& grad) {
        p.mutable_grad() = grad;
        CHECK_THROWS_AS(optimizer->step(), E);
        CHECK(p.equal(before));
        CHECK(optimizer->state_dict().empty());
      };
      refuses(static_cast<DeviceMismatchError*>(nullptr), ones({4}, kFloat64).to(there));
      refuses(static_cast<DTypeError*>(nullptr), ones({4}).to(here));
      refuses(static_cast<ShapeError*>(nullptr), ones({2}, kFloat64).to(here));
    };
    check([](const Parameters& p) { return std::make_unique<Adagrad>(p); });
    check([](const Parameters& p) { return std::make_unique<RMSprop>(p); });
    check(
        [](const Parameters& p) { return std::make_unique<Adam>(p, AdamOptions().amsgrad(true)); });
  }
}

namespace {

// An optimizer in the form of programs for libtorch.
struct HalvingOptions : OptimizerCloneableOptions<HalvingOptions> {
  double by = 0.5;
};

class Halving : public Optimizer {
 public:
  explicit Halving(std::vector<Tensor> params)
      : Optimizer(std::move(params), std::make_unique<HalvingOptions>()) {}
  Tensor step(LossClosure closure = nullptr) override {
    const NoGradGuard no_grad;
    for (auto& group : param_groups_) {
      const auto& options = static_cast<HalvingOptions&>(group.options());
      for (auto& p : group.params()) p.mul_(options.by);
    }
    return closure ? closure() : Tensor();
  }
};

}  // namespace

TEST_CASE("a program's own optimizer overrides only step()") {
  const Tensor p = ones({2}).requires_grad_(), q = ones({2}).requires_grad_();
  Halving halving({p});
  halving.add_parameters({q});
  CHECK(halving.size() == 2);
  Optimizer& base = halving;
  CHECK(base.step([&] { return p.sum(); }).item<float>() == 1);
  CHECK(q.equal(full({2}, 0.5)));
  CHECK_THROWS_AS(base.param_groups()[0].options().get_lr(), NotImplementedError);
  CHECK_THROWS_AS(base.checkpoint(), NotImplementedError);
}
