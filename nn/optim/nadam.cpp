// NAdam, composed of ops.
#include <ambit/optim/nadam.h>

#include <cmath>

#include "step_ops.h"

namespace ambit::optim {
namespace {

enum Slot : size_t { kStep, kProduct, kMean, kSquare };

}  // namespace

NAdamOptions::NAdamOptions(double lr) : lr_(lr) {}

const char* NAdamOptions::optimizer() const { return "NAdam"; }

std::vector<OptionEntry> NAdamOptions::entries() {
  using Range = OptionEntry::Range;
  return {{"lr", &lr_, Range::not_negative},
          {"betas", &betas_, Range::below_one},
          {"eps", &eps_, Range::not_negative},
          {"weight_decay", &weight_decay_, Range::not_negative},
          {"momentum_decay", &momentum_decay_, Range::not_negative},
          {"decoupled_weight_decay", &decoupled_weight_decay_},
          {"maximize", &maximize_}};
}

NAdam::NAdam(const std::vector<Tensor>& params, const NAdamOptions& defaults)
    : NAdam(std::vector<OptimizerParamGroup>{params}, defaults) {}
NAdam::NAdam(const std::vector<OptimizerParamGroup>& groups, const NAdamOptions& defaults)
    : ComposedOptimizer(groups, defaults.clone()) {}

const char* NAdam::step_name() const { return "nadam_step"; }

std::span<const Optimizer::StateTensor> NAdam::state_tensors() const {
  static constexpr StateTensor kState[] = {
      {"step", false}, {"mu_product", false, false, true}, {"exp_avg"}, {"exp_avg_sq"}};
  return kState;
}

void NAdam::initialise(State& state, const OptimizerOptions&) const {
  *state.tensors[kProduct].data_ptr<double>() = 1;
}

void NAdam::update_one(One& one, const OptimizerOptions& options) const {
  const auto& o = static_cast<const NAdamOptions&>(options);
  const auto& [beta1, beta2] = o.betas();
  decay_weights(one, o);
  const auto momentum = [&](double t) {
    return std::get<0>(o.betas()) * (1 - 0.5 * std::pow(0.96, t * o.momentum_decay()));
  };
  const double mu = momentum(one.step), next = momentum(one.step + 1);
  const double product = one.number(kProduct) *= mu;
  one.update_mean(kMean, beta1);
  one.update_square(kSquare, beta2);
  // Both parts of the change have the same denominator. It is multiplied by sqrt(1 - beta2^t) here,
  // and so are the numerators.
  const double correction = std::sqrt(1 - std::pow(beta2, one.step));
  const double of_grad = (1 - mu) / (1 - product), of_mean = next / (1 - product * next);
  const Tensor &root = one.scratch(0), &change = one.scratch(1);
  compute(root, UnaryOp::sqrt, one.state(kSquare));
  compute(root, BinaryOp::add, root, o.eps() * correction);
  add_scaled(change, one.grad, one.state(kMean), of_mean / of_grad);
  compute(change, BinaryOp::div, change, root);
  add_scaled(one.param(), one.param(), change, -o.lr() * of_grad * correction);
}

}  // namespace ambit::optim
