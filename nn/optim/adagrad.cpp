// Adagrad, composed of ops.
#include <ambit/optim/adagrad.h>

#include "step_ops.h"

namespace ambit::optim {
namespace {

enum Slot : size_t { kStep, kSum };

}  // namespace

AdagradOptions::AdagradOptions(double lr) : lr_(lr) {}

const char* AdagradOptions::optimizer() const { return "Adagrad"; }

std::vector<OptionEntry> AdagradOptions::entries() {
  using Range = OptionEntry::Range;
  return {{"lr", &lr_, Range::not_negative},
          {"lr_decay", &lr_decay_, Range::not_negative},
          {"eps", &eps_, Range::not_negative},
          {"weight_decay", &weight_decay_, Range::not_negative},
          {"initial_accumulator_value", &initial_accumulator_value_, Range::not_negative},
          {"maximize", &maximize_}};
}

Adagrad::Adagrad(const std::vector<Tensor>& params, const AdagradOptions& defaults)
    : Adagrad(std::vector<OptimizerParamGroup>{params}, defaults) {}
Adagrad::Adagrad(const std::vector<OptimizerParamGroup>& groups, const AdagradOptions& defaults)
    : ComposedOptimizer(groups, defaults.clone()) {}

const char* Adagrad::step_name() const { return "adagrad_step"; }

std::span<const Optimizer::StateTensor> Adagrad::state_tensors() const {
  static constexpr StateTensor kState[] = {{"step", false}, {"sum"}};
  return kState;
}

void Adagrad::initialise(State& state, const OptimizerOptions& options) const {
  const auto& o = static_cast<const AdagradOptions&>(options);
  state.tensors[kSum].fill_(o.initial_accumulator_value());
}

const char* Adagrad::unrepeatable(const OptimizerOptions& options) const {
  const bool decays = static_cast<const AdagradOptions&>(options).lr_decay() != 0;
  return decays ? "a rate that decays with each step" : nullptr;
}

void Adagrad::update_one(One& one, const OptimizerOptions& options) const {
  const auto& o = static_cast<const AdagradOptions&>(options);
  one.decay(o.weight_decay());
  const Tensor &sum = one.state(kSum), &change = one.scratch(0);
  compute(change, BinaryOp::mul, one.grad, one.grad);
  compute(sum, BinaryOp::add, sum, change);
  compute(change, UnaryOp::sqrt, sum);
  compute(change, BinaryOp::add, change, o.eps());
  compute(change, BinaryOp::div, one.grad, change);
  add_scaled(one.param(), one.param(), change, -o.lr() / (1 + (one.step - 1) * o.lr_decay()));
}

}  // namespace ambit::optim
