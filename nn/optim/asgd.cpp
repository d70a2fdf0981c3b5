// ASGD, composed of ops.
#include <ambit/optim/asgd.h>

#include <algorithm>
#include <cmath>

#include "step_ops.h"

namespace ambit::optim {
namespace {

enum Slot : size_t { kStep, kEta, kMu, kAverage };

}  // namespace

ASGDOptions::ASGDOptions(double lr) : lr_(lr) {}

const char* ASGDOptions::optimizer() const { return "ASGD"; }

std::vector<OptionEntry> ASGDOptions::entries() {
  using Range = OptionEntry::Range;
  return {{"lr", &lr_, Range::not_negative},
          {"lambd", &lambd_, Range::not_negative},
          {"alpha", &alpha_, Range::not_negative},
          {"t0", &t0_},
          {"weight_decay", &weight_decay_, Range::not_negative},
          {"maximize", &maximize_}};
}

ASGD::ASGD(const std::vector<Tensor>& params, const ASGDOptions& defaults)
    : ASGD(std::vector<OptimizerParamGroup>{params}, defaults) {}
ASGD::ASGD(const std::vector<OptimizerParamGroup>& groups, const ASGDOptions& defaults)
    : ComposedOptimizer(groups, defaults.clone()) {}

const char* ASGD::step_name() const { return "asgd_step"; }

std::span<const Optimizer::StateTensor> ASGD::state_tensors() const {
  static constexpr StateTensor kState[] = {
      {"step", false}, {"eta", false, false, true}, {"mu", false, false, true}, {"ax"}};
  return kState;
}

void ASGD::initialise(State& state, const OptimizerOptions& options) const {
  *state.tensors[kEta].data_ptr<double>() = static_cast<const ASGDOptions&>(options).lr();
  *state.tensors[kMu].data_ptr<double>() = 1;
}

void ASGD::update_one(One& one, const OptimizerOptions& options) const {
  const auto& o = static_cast<const ASGDOptions&>(options);
  double &eta = one.number(kEta), &mu = one.number(kMu);
  one.decay(o.weight_decay());
  compute(one.param(), BinaryOp::mul, one.param(), 1 - o.lambd() * eta);
  add_scaled(one.param(), one.param(), one.grad, -eta);
  lerp_into(one.state(kAverage), one.state(kAverage), one.param(), mu);
  eta = o.lr() / std::pow(1 + o.lambd() * o.lr() * one.step, o.alpha());
  mu = 1 / std::max(1.0, one.step - o.t0());
}

}  // namespace ambit::optim
