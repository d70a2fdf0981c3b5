// Adam and AdamW, written in public ops.
#include <ambit/error.h>
#include <ambit/ops/creation.h>
#include <ambit/ops/elementwise.h>
#include <ambit/optim/adam.h>

#include <fmt/format.h>

#include <cmath>

namespace ambit::optim {
namespace {

enum Slot : size_t { kStep, kMean, kSquare };  // of Adam's state

const AdamParams& params_of(const OptimizerOptions& options) {
  return static_cast<const AdamOptionsBase&>(options).params();
}

}  // namespace

void AdamOptionsBase::check() const {
  const char* optimizer = params_.decoupled ? "AdamW" : "Adam";
  const auto not_negative = [optimizer](const char* what, double value) {
    if (!(value >= 0)) {  // NaN too
      throw Error(fmt::format("{}: expected {} of at least 0, got {}", optimizer, what, value));
    }
  };
  not_negative("lr", params_.lr);
  not_negative("eps", params_.eps);
  not_negative("weight_decay", params_.weight_decay);
  for (const double beta : {params_.beta1, params_.beta2}) {
    if (!(beta >= 0 && beta < 1)) {
      throw Error(fmt::format("{}: expected betas in [0, 1), got {}", optimizer, beta));
    }
  }
}

Value::Dict AdamOptionsBase::values() const {
  return {{"lr", params_.lr},   {"betas", Value::tuple({params_.beta1, params_.beta2})},
          {"eps", params_.eps}, {"weight_decay", params_.weight_decay},
          {"amsgrad", false},   {"decoupled_weight_decay", params_.decoupled}};
}

void AdamOptionsBase::set_values(const Value& dict) {
  const Value::List& betas = dict["betas"].items();
  if (betas.size() != 2) {
    throw SerializationError(fmt::format("checkpoint: expected 2 betas, got {}", betas.size()));
  }
  // PyTorch has it since 2.7; before, nothing in a checkpoint tells Adam from AdamW.
  const Value* decoupled = dict.find("decoupled_weight_decay");
  if (decoupled && decoupled->to_bool() != params_.decoupled) {
    throw SerializationError(fmt::format("checkpoint: expected options of {}, got those of {}",
                                         params_.decoupled ? "AdamW" : "Adam",
                                         params_.decoupled ? "Adam" : "AdamW"));
  }
  params_.lr = dict["lr"].to_double();
  params_.beta1 = betas[0].to_double();
  params_.beta2 = betas[1].to_double();
  params_.eps = dict["eps"].to_double();
  params_.weight_decay = dict["weight_decay"].to_double();
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
  static constexpr StateTensor kState[] = {{"step", false}, {"exp_avg"}, {"exp_avg_sq"}};
  return kState;
}

void Adam::prepare(const Tensor& param, State& state, const OptimizerOptions&) const {
  if (state.tensors[kStep].defined()) return;
  state.tensors[kStep] = zeros({}, kInt64);
  state.tensors[kMean] = zeros(param.sizes(), param.options());
  state.tensors[kSquare] = zeros(param.sizes(), param.options());
}

void Adam::update(const Tensor& param, const Tensor& grad, State& state,
                  const OptimizerOptions& options) const {
  const AdamParams& o = params_of(options);
  const auto& [step, mean, square] = state.tensors;
  const double t = step.add_(1).item<double>();
  Tensor g = grad;
  if (o.weight_decay != 0 && o.decoupled) param.mul_(1 - o.lr * o.weight_decay);
  if (o.weight_decay != 0 && !o.decoupled) g = g.add(param, o.weight_decay);
  mean.mul_(o.beta1).add_(g, 1 - o.beta1);
  square.mul_(o.beta2).add_(g.square(), 1 - o.beta2);
  const double mean_correction = 1 - std::pow(o.beta1, t);
  const double square_correction = 1 - std::pow(o.beta2, t);
  const Tensor scale = square.sqrt().div_(std::sqrt(square_correction)).add_(o.eps);
  param.sub_(mean / scale, o.lr / mean_correction);
}

}  // namespace ambit::optim
