// Adagrad, composed of ops.
#include <ambit/backend/registry.h>
#include <ambit/ops/creation.h>
#include <ambit/ops/elementwise.h>
#include <ambit/optim/adagrad.h>

#include "option_checks.h"
#include "option_values.h"

namespace ambit::optim {
namespace {

enum Slot : size_t { kStep, kSum };

}  // namespace

AdagradOptions::AdagradOptions(double lr) : lr_(lr) {}

void AdagradOptions::check() const {
  check_not_negative("Adagrad", {{"lr", lr_},
                                 {"lr_decay", lr_decay_},
                                 {"weight_decay", weight_decay_},
                                 {"initial_accumulator_value", initial_sum_},
                                 {"eps", eps_}});
}

Value::Dict AdagradOptions::values() const {
  return {{"lr", lr_},
          {"lr_decay", lr_decay_},
          {"eps", eps_},
          {"weight_decay", weight_decay_},
          {"initial_accumulator_value", initial_sum_}};
}

void AdagradOptions::set_values(const Value& dict) {
  lr_ = number(dict, "lr");
  lr_decay_ = number(dict, "lr_decay");
  eps_ = number(dict, "eps");
  weight_decay_ = number(dict, "weight_decay");
  initial_sum_ = number(dict, "initial_accumulator_value");
}

void AdagradOptions::inherit(const OptimizerOptions& defaults) {
  const AdagradOptions constructed;
  const auto& from = static_cast<const AdagradOptions&>(defaults);
  for (const auto option : {&AdagradOptions::lr_, &AdagradOptions::lr_decay_, &AdagradOptions::eps_,
                            &AdagradOptions::weight_decay_, &AdagradOptions::initial_sum_}) {
    inherit_one(this->*option, constructed.*option, from.*option);
  }
}

Adagrad::Adagrad(const std::vector<Tensor>& params, const AdagradOptions& defaults)
    : Adagrad(std::vector<OptimizerParamGroup>{params}, defaults) {}
Adagrad::Adagrad(const std::vector<OptimizerParamGroup>& groups, const AdagradOptions& defaults)
    : Optimizer(groups, defaults.clone()) {}

const char* Adagrad::step_name() const { return "adagrad_step"; }

std::span<const StateTensor> Adagrad::state_tensors() const {
  static constexpr StateTensor kState[] = {{"step", false}, {"sum"}};
  return kState;
}

void Adagrad::prepare(const Tensor& param, State& state, const OptimizerOptions& options) const {
  if (state.tensors[kStep].defined()) return;
  const double sum = static_cast<const AdagradOptions&>(options).initial_accumulator_value();
  state.tensors = {zeros({}, TensorOptions(kInt64).device(kCPU)),
                   full(param.sizes(), sum, param.options())};
}

int64_t Adagrad::stage(const State& state) const {
  return *state.tensors[kStep].data_ptr<int64_t>();  // on cpu
}

void Adagrad::update(const Batch& batch, const OptimizerOptions& options) const {
  const auto& o = static_cast<const AdagradOptions&>(options);
  const Device device = batch.params[0].device();
  if (o.lr_decay() != 0 && !device.is_meta()) {
    backend_of(device).expect_repeatable(device.index(), "a rate that decays with each step");
  }
  const double lr = o.lr() / (1 + static_cast<double>(batch.stage) * o.lr_decay());
  for (size_t i = 0; i < batch.params.size(); ++i) {
    const Tensor &p = batch.params[i], &sum = batch.state[kSum][i];
    const Tensor &g = batch.scratch[0][i], &root = batch.scratch[1][i];
    g.copy_(batch.grads[i]);
    if (o.weight_decay() != 0) g.add_(p, o.weight_decay());
    sum.add_(root.copy_(g).mul_(g));
    root.copy_(sum).sqrt_().add_(o.eps());
    p.add_(g.div_(root), -lr);
    ++*batch.state[kStep][i].data_ptr<int64_t>();
  }
}

}  // namespace ambit::optim
