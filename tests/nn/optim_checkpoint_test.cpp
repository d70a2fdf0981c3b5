// Optimizers' options and state in PyTorch's layout.
#include <ambit/checkpoint.h>
#include <ambit/error.h>
#include <ambit/ops/creation.h>
#include <ambit/ops/elementwise.h>
#include <ambit/ops/reduce.h>
#include <ambit/optim/optim.h>
#include <doctest/doctest.h>

#include <memory>

#include "tests/devices.h"
#include "tests/expected.h"
#include "tests/temporary_folder.h"

using namespace ambit;
using optim::AdamOptions;
using optim::AdamWOptions;
using optim::SGDOptions;

namespace {

Tensor parameter(Device device = {}) { return wave(device, {4}, 0.4).requires_grad_(); }

void step(optim::Optimizer& optimizer, const Tensor& p) {
  optimizer.zero_grad();
  p.pow(3).sum().backward();
  optimizer.step();
}

// Return the entries of a dict, with `key` replaced by `value`.
Value with(const Value& dict, const char* key, Value value) {
  Value::Dict entries;
  for (const auto& [name, old] : dict.entries()) {
    if (name.to_string() != key) entries.emplace_back(name, old);
  }
  entries.emplace_back(key, std::move(value));
  return Value::dict(std::move(entries));
}

// Return a checkpoint with another option in its only group.
Value with_option(const Value& checkpoint, const char* option, Value value) {
  return with(checkpoint, "param_groups",
              Value::list({with(checkpoint["param_groups"].items()[0], option, value)}));
}

}  // namespace

TEST_CASE("an optimizer continues from a checkpoint file, on every device") {
  for_each_device([](Device device) {
    const auto check = [&](auto make, auto make_other) {
      const TemporaryFolder folder;
      const Tensor p = parameter(), q = parameter(device);
      auto first = make(p);
      step(*first, p);
      step(*first, p);
      save_checkpoint(first->checkpoint(), folder / "c.pth");
      auto second = make_other(q);
      q.set_data(p.detach().to(device, q.dtype(), false, true));
      second->load_checkpoint(load_checkpoint(folder / "c.pth"));
      CHECK(second->param_groups()[0].options().get_lr() == 0.1);
      step(*first, p);
      step(*second, q);
      CHECK(q.cpu().allclose(p, 1e-14, 1e-14));  // one step of a few roundings of 1.1e-16
    };
    check(
        [](const Tensor& p) {
          return std::make_unique<optim::SGD>(
              std::vector{p}, SGDOptions(0.1).momentum(0.9).weight_decay(0.1).nesterov(true));
        },
        [](const Tensor& p) { return std::make_unique<optim::SGD>(std::vector{p}, 0.5); });
    check(
        [](const Tensor& p) {
          return std::make_unique<optim::Adam>(
              std::vector{p}, AdamOptions(0.1).betas({0.8, 0.99}).eps(1e-3).weight_decay(0.1));
        },
        [](const Tensor& p) { return std::make_unique<optim::Adam>(std::vector{p}, 0.5); });
    check(
        [](const Tensor& p) {
          return std::make_unique<optim::AdamW>(std::vector{p}, AdamWOptions(0.1));
        },
        [](const Tensor& p) { return std::make_unique<optim::AdamW>(std::vector{p}, 0.5); });
  });
}

TEST_CASE("a checkpoint has PyTorch's layout") {
  const Tensor p = parameter(), q = parameter(), r = parameter();
  optim::SGD sgd({p}, SGDOptions(0.1).momentum(0.9));
  sgd.add_param_group({{q, r}, SGDOptions(0.2).momentum(0.9).clone()});
  step(sgd, r);
  const Value c = sgd.checkpoint();
  CHECK(c["state"].entries().size() == 1);
  CHECK(c["state"][2]["momentum_buffer"].to_tensor().sizes() == IntArrayRef{4});
  const Value second = c["param_groups"].items()[1];
  CHECK(second["lr"].to_double() == 0.2);
  CHECK(second["nesterov"].to_bool() == false);
  CHECK(second["params"].items()[0].to_int() == 1);
  CHECK(second["params"].items()[1].to_int() == 2);
  optim::Adam adam({p}, 0.1);
  step(adam, p);
  const Value step_count = adam.checkpoint()["state"][0]["step"];
  CHECK(step_count.to_tensor().dtype() == kFloat32);
  CHECK(step_count.to_tensor().item<float>() == 1);
}

TEST_CASE("additional entries of PyTorch are ignored, and its parameters may have any number") {
  const Tensor p = parameter();
  optim::SGD sgd({p}, SGDOptions(0.1));
  Value c = sgd.checkpoint();
  for (const char* option : {"foreach", "fused"}) c = with_option(c, option, Value());
  for (const char* option : {"maximize", "differentiable"}) c = with_option(c, option, false);
  c = with_option(with_option(c, "lr", 0.3), "params", Value::list({17}));
  c = with(c, "state", Value::dict({{17, Value::dict({{"momentum_buffer", Value()}})}}));
  sgd.load_checkpoint(c);
  CHECK(sgd.param_groups()[0].options().get_lr() == 0.3);
  CHECK(sgd.state_dict().empty());

  optim::Adam adam({p}, 0.1);
  step(adam, p);
  const Value state = adam.checkpoint()["state"][0];
  adam.load_checkpoint(
      with(adam.checkpoint(), "state", Value::dict({{0, with(state, "step", 5)}})));
  CHECK(adam.state_dict()[0].second.item<int64_t>() == 5);
}

TEST_CASE("an unknown option of a checkpoint is refused by its name, before anything changes") {
  const Tensor p = parameter();
  optim::SGD sgd({p}, SGDOptions(0.1).momentum(0.9));
  step(sgd, p);
  const Value good = with_option(sgd.checkpoint(), "lr", 0.7);
  const auto refuse = [&](const char* option, Value value, const std::string& text) {
    INFO(option);
    CHECK_THROWS_WITH_AS(sgd.load_checkpoint(with_option(good, option, std::move(value))),
                         ("checkpoint: " + text).c_str(), SerializationError);
    CHECK(sgd.param_groups()[0].options().get_lr() == 0.1);
    CHECK(sgd.state_dict().size() == 1);
  };
  const std::string wanted = "expected options that this optimizer has, got ";
  refuse("differentiable", true, wanted + "differentiable = True");
  refuse("betas", Value::tuple({0.9, 0.99}), wanted + "betas = a tuple");
  refuse("momentum_decay", 0.004, wanted + "momentum_decay = 0.004");
  refuse("lr", tensor(0.7), "expected a float, got a tensor, as the option lr");
  refuse("nesterov", 1, "expected a bool, got an int, as the option nesterov");
  refuse("maximize", 1, "expected a bool, got an int, as the option maximize");
  refuse("initial_lr", tensor(0.7), "expected a float, got a tensor, as the option initial_lr");
  refuse("master_weights", 1, "expected a bool, got an int, as the option master_weights");

  // PyTorch 2.15 writes these; they have no effect on steps.
  Value c = good;
  for (const char* option : {"foreach", "fused", "capturable"}) c = with_option(c, option, true);
  c = with_option(c, "param_names", Value::list({"p"}));
  c = with_option(with_option(c, "differentiable", false), "extra", Value());
  sgd.load_checkpoint(c);
  CHECK(sgd.param_groups()[0].options().get_lr() == 0.7);

  optim::Muon muon({p.detach().view({2, 2}).requires_grad_()});
  CHECK_THROWS_WITH_AS(muon.load_checkpoint(with_option(muon.checkpoint(), "maximize", true)),
                       ("checkpoint: " + wanted + "maximize = True").c_str(), SerializationError);

  optim::Adam adam({p}, AdamOptions(0.1));
  CHECK_THROWS_WITH_AS(adam.load_checkpoint(with_option(adam.checkpoint(), "betas",
                                                        Value::tuple({tensor(0.9), tensor(0.99)}))),
                       "checkpoint: expected a float, got a tensor, as the option betas",
                       SerializationError);
}

TEST_CASE("Adam decays weights as the checkpoint says, and AdamW always decouples the decay") {
  const Tensor p = parameter();
  optim::Adam adam({p}, AdamOptions(0.1));
  optim::AdamW adamw({p}, AdamWOptions(0.1));
  // PyTorch 2.15: a torch.optim.Adam that loads the state of an AdamW does the same.
  adam.load_checkpoint(adamw.checkpoint());
  CHECK(static_cast<AdamOptions&>(adam.param_groups()[0].options()).decoupled_weight_decay());
  CHECK_THROWS_WITH_AS(
      adamw.load_checkpoint(with_option(adamw.checkpoint(), "decoupled_weight_decay", false)),
      "checkpoint: expected options of AdamW, got those of Adam", SerializationError);
}

TEST_CASE("numbers of the state are read in PyTorch's types") {
  const Tensor p = parameter();
  optim::NAdam nadam({p});
  step(nadam, p);
  const Value c = nadam.checkpoint();
  CHECK(c["state"][0]["mu_product"].to_tensor().dtype() == kFloat64);
  for (const Value& mu : {Value(0.5), Value(tensor(0.5)), Value(full({1}, 0.5, kFloat64))}) {
    const Value state = with(c["state"][0], "mu_product", mu);
    nadam.load_checkpoint(with(c, "state", Value::dict({{0, state}})));
    CHECK(nadam.state().at(p.impl())["mu_product"].item<double>() == 0.5);
  }
  CHECK_THROWS_AS(nadam.load_state_dict({{"0.mu_product", zeros({}, kInt64)}}), Error);
}

TEST_CASE("invalid state does not change the options") {
  const Tensor p = ones({2}, kBFloat16).requires_grad_();
  optim::SGD sgd({p}, SGDOptions(0.1).momentum(0.9));
  const Value c = with_option(with_option(sgd.checkpoint(), "lr", 0.7), "master_weights", true);
  const Value state = Value::dict({{0, Value::dict({{"momentum_buffer", zeros({3})}})}});
  CHECK_THROWS_AS(sgd.load_checkpoint(with(c, "state", state)), Error);
  CHECK(sgd.param_groups()[0].options().get_lr() == 0.1);
  CHECK_FALSE(sgd.param_groups()[0].options().keeps_master_weights());
}

TEST_CASE("an invalid checkpoint is refused as a whole") {
  const Tensor p = parameter();
  optim::Adam adam({p}, AdamOptions(0.1));
  step(adam, p);
  const Value good = adam.checkpoint();
  const auto state = [&](const char* key, Value value) {
    return with(good, "state", Value::dict({{0, with(good["state"][0], key, std::move(value))}}));
  };
  const std::vector<Value> bad = {
      Value(),
      Value::dict({}),
      with(good, "param_groups", Value::list({})),
      with(good, "state", Value::dict({{1, Value::dict({{"step", 1}})}})),
      with(good, "state", Value::dict({{"0", Value::dict({})}})),
      with_option(good, "params", Value::list({0, 1})),
      with_option(good, "params", Value::list({})),
      with_option(good, "betas", Value::tuple({0.9})),
      with_option(good, "betas", Value::tuple({0.9, 1.5})),
      with_option(good, "lr", "fast"),
      with_option(good, "lr", -1.0),
      with_option(good, "amsgrad", "yes"),
      with_option(good, "maximize", 1),
      with_option(good, "decoupled_weight_decay", 1),
      with_option(state("exp_avg", zeros({3})), "lr", 0.7),
      with_option(state("momentum_buffer", zeros({4})), "lr", 0.7),
      state("exp_avg", 1.0),
      state("step", -1),
      state("step", 1.5),
      state("step", tensor(std::numeric_limits<double>::quiet_NaN())),
      state("step", 1e300),
      optim::SGD({p}, 0.1).checkpoint(),
  };
  for (size_t i = 0; i < bad.size(); ++i) {
    INFO(i);
    CHECK_THROWS_AS(adam.load_checkpoint(bad[i]), Error);
    CHECK(adam.param_groups()[0].options().get_lr() == 0.1);
    CHECK(adam.state_dict()[0].second.item<int64_t>() == 1);
  }
  adam.load_checkpoint(good);
}
