// RAdam, composed of ops.
#include <ambit/optim/radam.h>

#include <cmath>

#include "step_ops.h"

namespace ambit::optim {
namespace {

enum Slot : size_t { kStep, kMean, kSquare };

}  // namespace

RAdamOptions::RAdamOptions(double lr) : lr_(lr) {}

const char* RAdamOptions::optimizer() const { return "RAdam"; }

std::vector<OptionEntry> RAdamOptions::entries() {
  using Range = OptionEntry::Range;
  return {{"lr", &lr_, Range::not_negative},
          {"betas", &betas_, Range::below_one},
          {"eps", &eps_, Range::not_negative},
          {"weight_decay", &weight_decay_, Range::not_negative},
          {"maximize", &maximize_},
          {"decoupled_weight_decay", &decoupled_weight_decay_}};
}

RAdam::RAdam(const std::vector<Tensor>& params, const RAdamOptions& defaults)
    : RAdam(std::vector<OptimizerParamGroup>{params}, defaults) {}
RAdam::RAdam(const std::vector<OptimizerParamGroup>& groups, const RAdamOptions& defaults)
    : ComposedOptimizer(groups, defaults.clone()) {}

const char* RAdam::step_name() const { return "radam_step"; }

std::span<const Optimizer::StateTensor> RAdam::state_tensors() const {
  static constexpr StateTensor kState[] = {{"step", false}, {"exp_avg"}, {"exp_avg_sq"}};
  return kState;
}

void RAdam::update_one(One& one, const OptimizerOptions& options) const {
  const auto& o = static_cast<const RAdamOptions&>(options);
  const auto& [beta1, beta2] = o.betas();
  decay_weights(one, o);
  one.update_mean(kMean, beta1);
  one.update_square(kSquare, beta2);
  const double step_size = o.lr() / (1 - std::pow(beta1, one.step));
  const double power = std::pow(beta2, one.step);
  const double longest = 2 / (1 - beta2) - 1;
  const double length = longest - 2 * one.step * power / (1 - power);
  if (!(length > 5)) {
    return add_scaled(one.param(), one.param(), one.state(kMean), -step_size);
  }
  const double rectified = std::sqrt((length - 4) * (length - 2) * longest /
                                     ((longest - 4) * (longest - 2) * length) * (1 - power));
  const Tensor& change = one.scratch(0);
  compute(change, UnaryOp::sqrt, one.state(kSquare));
  compute(change, BinaryOp::add, change, o.eps());
  compute(change, BinaryOp::div, one.state(kMean), change);
  add_scaled(one.param(), one.param(), change, -step_size * rectified);
}

}  // namespace ambit::optim
