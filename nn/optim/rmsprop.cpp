// RMSprop, composed of ops.
#include <ambit/ops/creation.h>
#include <ambit/ops/elementwise.h>
#include <ambit/optim/rmsprop.h>

#include "option_checks.h"
#include "option_values.h"

namespace ambit::optim {
namespace {

enum Slot : size_t { kStep, kSquare, kBuffer, kMean };

}  // namespace

RMSpropOptions::RMSpropOptions(double lr) : lr_(lr) {}

void RMSpropOptions::check() const {
  check_not_negative("RMSprop", {{"lr", lr_},
                                 {"alpha", alpha_},
                                 {"eps", eps_},
                                 {"weight_decay", weight_decay_},
                                 {"momentum", momentum_}});
}

Value::Dict RMSpropOptions::values() const {
  return {{"lr", lr_},   {"momentum", momentum_}, {"alpha", alpha_},
          {"eps", eps_}, {"centered", centered_}, {"weight_decay", weight_decay_}};
}

void RMSpropOptions::set_values(const Value& dict) {
  lr_ = number(dict, "lr");
  momentum_ = number(dict, "momentum");
  alpha_ = number(dict, "alpha");
  eps_ = number(dict, "eps");
  centered_ = flag(dict, "centered");
  weight_decay_ = number(dict, "weight_decay");
}

void RMSpropOptions::inherit(const OptimizerOptions& defaults) {
  const RMSpropOptions constructed;
  const auto& from = static_cast<const RMSpropOptions&>(defaults);
  for (const auto option :
       {&RMSpropOptions::lr_, &RMSpropOptions::momentum_, &RMSpropOptions::alpha_,
        &RMSpropOptions::eps_, &RMSpropOptions::weight_decay_}) {
    inherit_one(this->*option, constructed.*option, from.*option);
  }
  inherit_one(centered_, constructed.centered_, from.centered_);
}

RMSprop::RMSprop(const std::vector<Tensor>& params, const RMSpropOptions& defaults)
    : RMSprop(std::vector<OptimizerParamGroup>{params}, defaults) {}
RMSprop::RMSprop(const std::vector<OptimizerParamGroup>& groups, const RMSpropOptions& defaults)
    : Optimizer(groups, defaults.clone()) {}

const char* RMSprop::step_name() const { return "rmsprop_step"; }

std::span<const StateTensor> RMSprop::state_tensors() const {
  static constexpr StateTensor kState[] = {
      {"step", false}, {"square_avg"}, {"momentum_buffer", true, true}, {"grad_avg", true, true}};
  return kState;
}

void RMSprop::prepare(const Tensor& param, State& state, const OptimizerOptions& options) const {
  const auto& o = static_cast<const RMSpropOptions&>(options);
  auto tensors = state.tensors;
  const auto make = [&](Slot slot) {
    if (!tensors[slot].defined()) tensors[slot] = zeros(param.sizes(), param.options());
  };
  if (!tensors[kStep].defined()) tensors[kStep] = zeros({}, TensorOptions(kInt64).device(kCPU));
  make(kSquare);
  if (o.momentum() > 0) make(kBuffer);
  if (o.centered()) make(kMean);
  state.tensors = std::move(tensors);
}

void RMSprop::update(const Batch& batch, const OptimizerOptions& options) const {
  const auto& o = static_cast<const RMSpropOptions&>(options);
  for (size_t i = 0; i < batch.params.size(); ++i) {
    const Tensor &p = batch.params[i], &square = batch.state[kSquare][i];
    const Tensor &g = batch.scratch[0][i], &root = batch.scratch[1][i];
    g.copy_(batch.grads[i]);
    if (o.weight_decay() != 0) g.add_(p, o.weight_decay());
    square.mul_(o.alpha()).add_(root.copy_(g).mul_(g), 1 - o.alpha());
    if (o.centered()) {
      const Tensor& mean = batch.state[kMean][i];
      mean.mul_(o.alpha()).add_(g, 1 - o.alpha());
      root.copy_(mean).mul_(mean).neg_().add_(square);
    } else {
      root.copy_(square);
    }
    g.div_(root.sqrt_().add_(o.eps()));
    const bool has_momentum = o.momentum() > 0;
    if (has_momentum) batch.state[kBuffer][i].mul_(o.momentum()).add_(g);
    p.add_(has_momentum ? batch.state[kBuffer][i] : g, -o.lr());
    ++*batch.state[kStep][i].data_ptr<int64_t>();
  }
}

}  // namespace ambit::optim
