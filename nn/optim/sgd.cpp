// SGD: options, and state for the kernel sgd_step.
#include <ambit/backend/kernels.h>
#include <ambit/error.h>
#include <ambit/ops/creation.h>
#include <ambit/optim/sgd.h>

#include <fmt/format.h>

#include "option_checks.h"
#include "option_values.h"

namespace ambit::optim {

SGDOptions::SGDOptions(double lr) { params_.lr = lr; }

void SGDOptions::check() const {
  check_not_negative("SGD",
                     {{"lr", lr()}, {"momentum", momentum()}, {"weight_decay", weight_decay()}});
  if (nesterov() && (momentum() == 0 || dampening() != 0)) {
    throw Error(
        fmt::format("SGD: expected momentum and no dampening for nesterov, got momentum {} "
                    "and dampening {}",
                    momentum(), dampening()));
  }
}

Value::Dict SGDOptions::values() const {
  return {{"lr", lr()},
          {"momentum", momentum()},
          {"dampening", dampening()},
          {"weight_decay", weight_decay()},
          {"nesterov", nesterov()},
          {"maximize", maximize()}};
}

void SGDOptions::set_values(const Value& dict) {
  lr(number(dict, "lr"));
  momentum(number(dict, "momentum"));
  dampening(number(dict, "dampening"));
  weight_decay(number(dict, "weight_decay"));
  nesterov(flag(dict, "nesterov"));
  if (dict.find("maximize")) maximize(flag(dict, "maximize"));
}

// lr is not inherited: the constructor requires it, so it is always given.
void SGDOptions::inherit(const OptimizerOptions& defaults) {
  const auto& others = static_cast<const SGDOptions&>(defaults);
  const SgdParams constructed, &from = others.params_;
  inherit_one(params_.momentum, constructed.momentum, from.momentum);
  inherit_one(params_.dampening, constructed.dampening, from.dampening);
  inherit_one(params_.weight_decay, constructed.weight_decay, from.weight_decay);
  inherit_one(params_.nesterov, constructed.nesterov, from.nesterov);
  inherit_one(maximize_, false, others.maximize_);
}

SGD::SGD(const std::vector<Tensor>& params, const SGDOptions& defaults)
    : SGD(std::vector<OptimizerParamGroup>{params}, defaults) {}
SGD::SGD(const std::vector<OptimizerParamGroup>& groups, const SGDOptions& defaults)
    : Optimizer(groups, defaults.clone()) {}

const char* SGD::step_name() const { return "sgd_step"; }

std::span<const Optimizer::StateTensor> SGD::state_tensors() const {
  static constexpr StateTensor kState[] = {{"momentum_buffer", true, true}};
  return kState;
}

void SGD::prepare(const Tensor& param, State& state, const OptimizerOptions& options) const {
  if (static_cast<const SGDOptions&>(options).momentum() == 0 || state.tensors[0].defined()) return;
  // The first step only writes the buffer, but an upcast of a reduced floating-point type reads it.
  state.tensors[0] = is_reduced_floating(param.dtype()) ? zeros(param.sizes(), param.options())
                                                        : empty(param.sizes(), param.options());
  state.fresh = true;
}

int64_t SGD::batch_key(const State& state) const { return state.fresh; }

void SGD::update(const Batch& batch, const OptimizerOptions& options) const {
  SgdParams params = static_cast<const SGDOptions&>(options).params();
  params.first_step = batch.batch_key != 0;
  const TensorList no_buffers(nullptr, 0);
  kernels::sgd_step(batch.params, params.momentum != 0 ? batch.state[0] : no_buffers, batch.grads,
                    params);
}

}  // namespace ambit::optim
