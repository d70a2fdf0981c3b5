// Rprop, composed of ops.
#include <ambit/backend/kernels.h>
#include <ambit/error.h>
#include <ambit/ops/creation.h>
#include <ambit/optim/rprop.h>

#include <fmt/format.h>

#include "step_ops.h"

namespace ambit::optim {
namespace {

enum Slot : size_t { kStep, kPrevious, kStepSize };

}  // namespace

RpropOptions::RpropOptions(double lr) : lr_(lr) {}

const char* RpropOptions::optimizer() const { return "Rprop"; }

std::vector<OptionEntry> RpropOptions::entries() {
  using Range = OptionEntry::Range;
  return {{"lr", &lr_, Range::not_negative},
          {"etas", &etas_},
          {"step_sizes", &step_sizes_},
          {"maximize", &maximize_}};
}

void RpropOptions::check() const {
  ListedOptions::check();
  const auto& [shrink, grow] = etas_;
  if (shrink > 0 && shrink < 1 && grow > 1) return;
  throw Error(fmt::format("Rprop: expected etas with 0 < etas[0] < 1 < etas[1], got {} and {}",
                          shrink, grow));
}

Rprop::Rprop(const std::vector<Tensor>& params, const RpropOptions& defaults)
    : Rprop(std::vector<OptimizerParamGroup>{params}, defaults) {}
Rprop::Rprop(const std::vector<OptimizerParamGroup>& groups, const RpropOptions& defaults)
    : ComposedOptimizer(groups, defaults.clone()) {}

const char* Rprop::step_name() const { return "rprop_step"; }

std::span<const Optimizer::StateTensor> Rprop::state_tensors() const {
  static constexpr StateTensor kState[] = {{"step", false}, {"prev"}, {"step_size"}};
  return kState;
}

void Rprop::initialise(State& state, const OptimizerOptions& options) const {
  state.tensors[kStepSize].fill_(static_cast<const RpropOptions&>(options).lr());
}

void Rprop::update_one(One& one, const OptimizerOptions& options) const {
  const auto& o = static_cast<const RpropOptions&>(options);
  const auto& [shrink, grow] = o.etas();
  const auto& [least, most] = o.step_sizes();
  Tensor previous = one.state(kPrevious), size = one.state(kStepSize);
  Tensor sign = one.scratch(0), same = one.scratch(1);
  const Tensor& scaled = one.scratch(2);
  // Multiply the signs, because the product of the gradients may underflow to 0.
  compute(sign, UnaryOp::sign, one.grad);
  compute(same, UnaryOp::sign, previous);
  compute(sign, BinaryOp::mul, sign, same);
  kernels::clamp_grad(previous, one.grad, sign, -0.5, {}, true);  // grad, 0 where sign is -1
  // lerp is exact at the weights 0 and 1.
  kernels::clamp(same, sign, 0, {});
  compute(scaled, BinaryOp::mul, size, grow);
  lerp_into(size, size, scaled, same);
  kernels::clamp(sign, sign, {}, 0);
  compute(sign, UnaryOp::neg, sign);
  compute(scaled, BinaryOp::mul, size, shrink);
  lerp_into(size, size, scaled, sign);
  kernels::clamp(size, size, least, most);
  compute(sign, UnaryOp::sign, previous);
  compute(sign, BinaryOp::mul, sign, size);
  add_scaled(one.param(), one.param(), sign, -1);
}

}  // namespace ambit::optim
