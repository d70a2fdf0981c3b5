// Adadelta, composed of ops.
#include <ambit/optim/adadelta.h>

#include "step_ops.h"

namespace ambit::optim {
namespace {

enum Slot : size_t { kStep, kSquare, kChange };

}  // namespace

AdadeltaOptions::AdadeltaOptions(double lr) : lr_(lr) {}

const char* AdadeltaOptions::optimizer() const { return "Adadelta"; }

std::vector<OptionEntry> AdadeltaOptions::entries() {
  using Range = OptionEntry::Range;
  return {{"lr", &lr_, Range::not_negative},
          {"rho", &rho_, Range::up_to_one},
          {"eps", &eps_, Range::not_negative},
          {"weight_decay", &weight_decay_, Range::not_negative},
          {"maximize", &maximize_}};
}

Adadelta::Adadelta(const std::vector<Tensor>& params, const AdadeltaOptions& defaults)
    : Adadelta(std::vector<OptimizerParamGroup>{params}, defaults) {}
Adadelta::Adadelta(const std::vector<OptimizerParamGroup>& groups, const AdadeltaOptions& defaults)
    : ComposedOptimizer(groups, defaults.clone()) {}

const char* Adadelta::step_name() const { return "adadelta_step"; }

std::span<const Optimizer::StateTensor> Adadelta::state_tensors() const {
  static constexpr StateTensor kState[] = {{"step", false}, {"square_avg"}, {"acc_delta"}};
  return kState;
}

void Adadelta::update_one(One& one, const OptimizerOptions& options) const {
  const auto& o = static_cast<const AdadeltaOptions&>(options);
  one.decay(o.weight_decay());
  one.update_square(kSquare, o.rho());
  const Tensor &root = one.scratch(0), &change = one.scratch(1);
  compute(root, BinaryOp::add, one.state(kSquare), o.eps());
  compute(root, UnaryOp::sqrt, root);
  compute(change, BinaryOp::add, one.state(kChange), o.eps());
  compute(change, UnaryOp::sqrt, change);
  compute(change, BinaryOp::div, change, root);
  compute(change, BinaryOp::mul, change, one.grad);
  compute(root, BinaryOp::mul, change, change);
  lerp_into(one.state(kChange), one.state(kChange), root, 1 - o.rho());
  add_scaled(one.param(), one.param(), change, -o.lr());
}

}  // namespace ambit::optim
