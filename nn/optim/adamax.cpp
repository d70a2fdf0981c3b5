// Adamax, composed of ops.
#include <ambit/optim/adamax.h>

#include <cmath>

#include "step_ops.h"

namespace ambit::optim {
namespace {

enum Slot : size_t { kStep, kMean, kLargest };

}  // namespace

AdamaxOptions::AdamaxOptions(double lr) : lr_(lr) {}

const char* AdamaxOptions::optimizer() const { return "Adamax"; }

std::vector<OptionEntry> AdamaxOptions::entries() {
  using Range = OptionEntry::Range;
  return {{"lr", &lr_, Range::not_negative},
          {"betas", &betas_, Range::below_one},
          {"eps", &eps_, Range::not_negative},
          {"weight_decay", &weight_decay_, Range::not_negative},
          {"maximize", &maximize_}};
}

Adamax::Adamax(const std::vector<Tensor>& params, const AdamaxOptions& defaults)
    : Adamax(std::vector<OptimizerParamGroup>{params}, defaults) {}
Adamax::Adamax(const std::vector<OptimizerParamGroup>& groups, const AdamaxOptions& defaults)
    : ComposedOptimizer(groups, defaults.clone()) {}

const char* Adamax::step_name() const { return "adamax_step"; }

std::span<const Optimizer::StateTensor> Adamax::state_tensors() const {
  static constexpr StateTensor kState[] = {{"step", false}, {"exp_avg"}, {"exp_inf"}};
  return kState;
}

void Adamax::update_one(One& one, const OptimizerOptions& options) const {
  const auto& o = static_cast<const AdamaxOptions&>(options);
  const auto& [beta1, beta2] = o.betas();
  one.decay(o.weight_decay());
  one.update_mean(kMean, beta1);
  const Tensor &largest = one.state(kLargest), &change = one.scratch(0);
  compute(change, UnaryOp::abs, one.grad);
  compute(change, BinaryOp::add, change, o.eps());
  compute(largest, BinaryOp::mul, largest, beta2);
  compute(largest, BinaryOp::maximum, largest, change);
  compute(change, BinaryOp::div, one.state(kMean), largest);
  add_scaled(one.param(), one.param(), change, -o.lr() / (1 - std::pow(beta1, one.step)));
}

}  // namespace ambit::optim
