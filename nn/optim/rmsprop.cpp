// RMSprop, composed of ops.
#include <ambit/ops/creation.h>
#include <ambit/optim/rmsprop.h>

#include <utility>

#include "step_ops.h"

namespace ambit::optim {
namespace {

enum Slot : size_t { kStep, kSquare, kBuffer, kMean };

}  // namespace

RMSpropOptions::RMSpropOptions(double lr) : lr_(lr) {}

const char* RMSpropOptions::optimizer() const { return "RMSprop"; }

std::vector<OptionEntry> RMSpropOptions::entries() {
  using Range = OptionEntry::Range;
  return {{"lr", &lr_, Range::not_negative},
          {"momentum", &momentum_, Range::not_negative},
          {"alpha", &alpha_, Range::not_negative},
          {"eps", &eps_, Range::not_negative},
          {"centered", &centered_},
          {"weight_decay", &weight_decay_, Range::not_negative},
          {"maximize", &maximize_}};
}

RMSprop::RMSprop(const std::vector<Tensor>& params, const RMSpropOptions& defaults)
    : RMSprop(std::vector<OptimizerParamGroup>{params}, defaults) {}
RMSprop::RMSprop(const std::vector<OptimizerParamGroup>& groups, const RMSpropOptions& defaults)
    : ComposedOptimizer(groups, defaults.clone()) {}

const char* RMSprop::step_name() const { return "rmsprop_step"; }

std::span<const Optimizer::StateTensor> RMSprop::state_tensors() const {
  static constexpr StateTensor kState[] = {
      {"step", false}, {"square_avg"}, {"momentum_buffer", true, true}, {"grad_avg", true, true}};
  return kState;
}

void RMSprop::prepare(const Tensor& param, State& state, const OptimizerOptions& options) const {
  const auto& o = static_cast<const RMSpropOptions&>(options);
  State made = state;
  ComposedOptimizer::prepare(param, made, options);
  const auto make = [&](Slot slot) {
    if (!made.tensors[slot].defined()) made.tensors[slot] = zeros(param.sizes(), param.options());
  };
  if (o.momentum() > 0) make(kBuffer);
  if (o.centered()) make(kMean);
  state.tensors = std::move(made.tensors);
}

void RMSprop::update_one(One& one, const OptimizerOptions& options) const {
  const auto& o = static_cast<const RMSpropOptions&>(options);
  one.decay(o.weight_decay());
  one.update_square(kSquare, o.alpha());
  const Tensor& change = one.scratch(0);
  if (o.centered()) {
    one.update_mean(kMean, o.alpha());
    compute(change, BinaryOp::mul, one.state(kMean), one.state(kMean));
    compute(change, BinaryOp::sub, one.state(kSquare), change);
  }
  compute(change, UnaryOp::sqrt, o.centered() ? change : one.state(kSquare));
  compute(change, BinaryOp::add, change, o.eps());
  compute(change, BinaryOp::div, one.grad, change);
  if (o.momentum() > 0) {
    const Tensor& buffer = one.state(kBuffer);
    add_scaled(buffer, change, buffer, o.momentum());
    return add_scaled(one.param(), one.param(), buffer, -o.lr());
  }
  add_scaled(one.param(), one.param(), change, -o.lr());
}

}  // namespace ambit::optim
