// Adam and AdamW: options, and state for the kernel adam_step.
#include <ambit/backend/kernels.h>
#include <ambit/error.h>
#include <ambit/ops/creation.h>
#include <ambit/ops/elementwise.h>
#include <ambit/optim/adam.h>

#include <fmt/format.h>

#include <tuple>
#include <utility>
#include <vector>

#include "option_checks.h"
#include "option_values.h"

namespace ambit::optim {
namespace {

enum Slot : size_t { kStep, kMean, kSquare, kMostSquare };  // indices into the state tensors

}  // namespace

AdamOptions::AdamOptions(double lr) : AdamSetters(AdamParams{.lr = lr}) {}
AdamWOptions::AdamWOptions(double lr)
    : AdamSetters(AdamParams{.lr = lr, .weight_decay = 1e-2, .decoupled = true}, true) {}

void AdamOptionsBase::check() const {
  const char* optimizer = is_adamw_ ? "AdamW" : "Adam";
  check_not_negative(
      optimizer,
      {{"lr", params_.lr}, {"eps", params_.eps}, {"weight_decay", params_.weight_decay}});
  for (const double beta : {params_.beta1, params_.beta2}) {
    if (!(beta >= 0 && beta < 1)) {
      throw Error(fmt::format("{}: expected betas in [0, 1), got {}", optimizer, beta));
    }
  }
  if (amsgrad_ && capturable_) {
    throw Error(fmt::format("{}: expected amsgrad or capturable, got both", optimizer));
  }
}

Value::Dict AdamOptionsBase::values() const {
  return {{"lr", params_.lr},          {"betas", Value::tuple({params_.beta1, params_.beta2})},
          {"eps", params_.eps},        {"weight_decay", params_.weight_decay},
          {"amsgrad", amsgrad_},       {"maximize", maximize_},
          {"capturable", capturable_}, {"decoupled_weight_decay", params_.decoupled}};
}

void AdamOptionsBase::set_values(const Value& dict) {
  const auto betas = option<std::vector<double>>(dict, "betas");
  if (betas.size() != 2) {
    throw SerializationError(fmt::format("checkpoint: expected 2 betas, got {}", betas.size()));
  }
  const auto is_on = [&](const char* name, bool otherwise) {
    return dict.find(name) ? flag(dict, name) : otherwise;
  };
  // PyTorch writes it since 2.7; older checkpoints do not distinguish Adam from AdamW.
  const bool decoupled = is_on("decoupled_weight_decay", params_.decoupled);
  if (is_adamw_ && !decoupled) {
    throw SerializationError("checkpoint: expected options of AdamW, got those of Adam");
  }
  params_.decoupled = decoupled;
  maximize_ = is_on("maximize", maximize_);
  amsgrad_ = is_on("amsgrad", false);
  capturable_ = is_on("capturable", capturable_);  // missing in files of libtorch's C++
  params_.lr = number(dict, "lr");
  params_.beta1 = betas[0];
  params_.beta2 = betas[1];
  params_.eps = number(dict, "eps");
  params_.weight_decay = number(dict, "weight_decay");
}

void AdamOptionsBase::inherit(const OptimizerOptions& defaults) {
  const AdamParams constructed = is_adamw_ ? AdamWOptions().params() : AdamOptions().params();
  const auto& from = static_cast<const AdamOptionsBase&>(defaults);
  for (const auto option : {&AdamParams::lr, &AdamParams::eps, &AdamParams::weight_decay}) {
    inherit_one(params_.*option, constructed.*option, from.params_.*option);
  }
  if (betas() == std::tuple(constructed.beta1, constructed.beta2)) {
    std::tie(params_.beta1, params_.beta2) = from.betas();
  }
  inherit_one(params_.decoupled, constructed.decoupled, from.params_.decoupled);
  inherit_one(maximize_, false, from.maximize_);
  inherit_one(amsgrad_, false, from.amsgrad_);
  inherit_one(capturable_, false, from.capturable_);
}

Adam::Adam(const std::vector<Tensor>& params, const AdamOptions& defaults)
    : Adam(std::vector<OptimizerParamGroup>{params}, defaults) {}
Adam::Adam(const std::vector<OptimizerParamGroup>& groups, const AdamOptions& defaults)
    : Adam(groups, defaults.clone()) {}
AdamW::AdamW(const std::vector<Tensor>& params, const AdamWOptions& defaults)
    : AdamW(std::vector<OptimizerParamGroup>{params}, defaults) {}
AdamW::AdamW(const std::vector<OptimizerParamGroup>& groups, const AdamWOptions& defaults)
    : Adam(groups, defaults.clone()) {}

const char* Adam::step_name() const { return "adam_step"; }
const char* AdamW::step_name() const { return "adamw_step"; }

std::span<const Optimizer::StateTensor> Adam::state_tensors() const {
  static constexpr StateTensor kState[] = {
      {"step", false}, {"exp_avg"}, {"exp_avg_sq"}, {"max_exp_avg_sq", true, true}};
  return kState;
}

size_t Adam::scratch_tensors(const OptimizerOptions& options) const {
  return static_cast<const AdamOptionsBase&>(options).amsgrad() ? 2 : 0;
}

void Adam::prepare(const Tensor& param, State& state, const OptimizerOptions& options) const {
  const auto& o = static_cast<const AdamOptionsBase&>(options);
  const auto like_param = [&] { return zeros(param.sizes(), param.options()); };
  const TensorOptions number = o.capturable() ? TensorOptions(kFloat32).device(param.device())
                                              : TensorOptions(kInt64).device(kCPU);
  auto tensors = state.tensors;
  if (!tensors[kStep].defined()) tensors = {zeros({}, number), like_param(), like_param(), {}};
  if (!tensors[kMostSquare].defined() && o.amsgrad()) tensors[kMostSquare] = like_param();
  tensors[kStep] = tensors[kStep].to(number);  // the option `capturable` may have changed
  state.tensors = std::move(tensors);
}

// Step counts of capturable parameters are on the device and unknown here: return 0.
int64_t Adam::batch_key(const State& state) const {
  const Tensor& step = state.tensors[kStep];
  return step.dtype() == kInt64 ? *step.data_ptr<int64_t>() : 0;
}

void Adam::update(const Batch& batch, const OptimizerOptions& options) const {
  AdamParams params = static_cast<const AdamOptionsBase&>(options).params();
  if (static_cast<const AdamOptionsBase&>(options).capturable()) {
    kernels::adam_step(batch.params, batch.state[kMean], batch.state[kSquare], batch.state[kStep],
                       batch.grads, params);
    for (const Tensor& step : batch.state[kStep]) step.add_(1);
    return;
  }
  params.step = batch.batch_key + 1;
  if (static_cast<const AdamOptionsBase&>(options).amsgrad()) {
    update_amsgrad(batch, params);
  } else {
    kernels::adam_step(batch.params, batch.state[kMean], batch.state[kSquare], {nullptr, 0},
                       batch.grads, params);
  }
  for (const Tensor& step : batch.state[kStep]) *step.data_ptr<int64_t>() = params.step;
}

// The kernel updates the moments; with lr 0 it leaves the parameters unchanged; ops update them
// instead.
void Adam::update_amsgrad(const Batch& batch, const AdamParams& params) {
  AdamParams moments = params;
  moments.lr = 0;
  moments.eps = 1;  // avoids division by 0
  kernels::adam_step(batch.params, batch.state[kMean], batch.state[kSquare], {nullptr, 0},
                     batch.grads, moments);
  for (size_t i = 0; i < batch.params.size(); ++i) {
    const Tensor &p = batch.params[i], &root = batch.scratch[0][i], &change = batch.scratch[1][i];
    Tensor most = batch.state[kMostSquare][i];
    kernels::binary(most, most, batch.state[kSquare][i], BinaryOp::maximum);
    root.copy_(most).sqrt_().mul_(params.root_scale()).add_(params.eps);
    change.copy_(batch.state[kMean][i]).div_(root);
    if (params.decoupled) p.mul_(1 - params.lr * params.weight_decay);
    p.add_(change, -params.step_size());
  }
}

}  // namespace ambit::optim
