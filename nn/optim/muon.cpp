// Muon: options, and the orthogonalisation by Newton-Schulz iteration.
#include <ambit/backend/kernels.h>
#include <ambit/error.h>
#include <ambit/ops/creation.h>
#include <ambit/ops/elementwise.h>
#include <ambit/ops/matmul.h>
#include <ambit/ops/reduce.h>
#include <ambit/ops/shape.h>
#include <ambit/optim/muon.h>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "step_ops.h"

namespace ambit::optim {

MuonOptions::MuonOptions(double lr) : lr_(lr) {}

const char* MuonOptions::optimizer() const { return "Muon"; }

std::vector<OptionEntry> MuonOptions::entries() {
  using Range = OptionEntry::Range;
  return {{"lr", &lr_, Range::not_negative},
          {"weight_decay", &weight_decay_, Range::not_negative},
          {"momentum", &momentum_, Range::not_negative},
          {"nesterov", &nesterov_},
          {"ns_coefficients", &ns_coefficients_},
          {"eps", &eps_},
          {"ns_steps", &ns_steps_},
          {"adjust_lr_fn", &adjust_lr_fn_}};
}

void MuonOptions::check() const {
  ListedOptions::check();
  if (ns_steps_ >= 100) {
    throw Error(fmt::format("Muon: expected ns_steps below 100, got {}", ns_steps_));
  }
  const std::string& f = adjust_lr_fn_.value_or("original");
  if (f == "original" || f == "match_rms_adamw" || f == "spectral_unclamped") return;
  throw Error(
      fmt::format("Muon: expected \"original\", \"match_rms_adamw\", \"spectral_unclamped\" or no "
                  "adjust_lr_fn, got \"{}\"",
                  f));
}

namespace {

void expect_matrix(const char* op, const Tensor& param) {
  if (param.dim() == 2) return;
  throw ShapeError(fmt::format("{}: expected parameters of 2 dims, got one of shape {}", op,
                               str(param.sizes())));
}

// The ratio of the step to lr, for a parameter [a, b].
double ratio(const std::optional<std::string>& adjust, double a, double b) {
  if (adjust == "match_rms_adamw") return 0.2 * std::sqrt(std::max(a, b));
  if (adjust == "spectral_unclamped") return std::sqrt(a / b);
  return std::sqrt(std::max(1.0, a / b));
}

Tensor orthogonalised(const Tensor& update, const MuonOptions& o) {
  const auto& [a, b, c] = o.ns_coefficients();
  const bool is_tall = update.size(0) > update.size(1);
  Tensor x = update.to(kBFloat16, false, /*copy=*/true);
  if (is_tall) x = x.t();
  x.div_(x.norm().clamp_min(o.eps()));
  for (int64_t i = 0; i < o.ns_steps(); ++i) {
    const Tensor gram = matmul(x, x.t());
    x = addmm(x, addmm(gram, gram, gram, b, c), x, a);
  }
  return is_tall ? x.t() : x;
}

}  // namespace

Muon::Muon(const std::vector<Tensor>& params, const MuonOptions& defaults)
    : Muon(std::vector<OptimizerParamGroup>{params}, defaults) {}
Muon::Muon(const std::vector<OptimizerParamGroup>& groups, const MuonOptions& defaults)
    : Optimizer(groups, defaults.clone()) {
  for (const Tensor& param : parameters()) expect_matrix("Muon", param);
}

const char* Muon::step_name() const { return "muon_step"; }

std::span<const Optimizer::StateTensor> Muon::state_tensors() const {
  static constexpr StateTensor kState[] = {{"momentum_buffer"}};
  return kState;
}

void Muon::prepare(const Tensor& param, State& state, const OptimizerOptions&) const {
  expect_matrix(step_name(), param);  // the group may have been added later
  if (state.tensors[0].defined()) return;
  state.tensors[0] = zeros(param.sizes(), param.options());
}

// Compute the changes of all parameters before the first is written, since they allocate memory.
void Muon::update(const Batch& batch, const OptimizerOptions& options) const {
  const auto& o = static_cast<const MuonOptions&>(options);
  std::vector<Tensor> changes;
  for (size_t i = 0; i < batch.params.size(); ++i) {
    const Tensor &grad = batch.grads[i], &buffer = batch.scratch[0][i], &u = batch.scratch[1][i];
    lerp_into(buffer, batch.state[0][i], grad, 1 - o.momentum());
    if (o.nesterov()) lerp_into(u, grad, buffer, o.momentum());
    changes.push_back(orthogonalised(o.nesterov() ? u : buffer, o));
  }
  for (size_t i = 0; i < batch.params.size(); ++i) {
    const Tensor &p = batch.params[i], &buffer = batch.state[0][i];
    lerp_into(buffer, buffer, batch.grads[i], 1 - o.momentum());
    const auto a = static_cast<double>(p.size(0)), b = static_cast<double>(p.size(1));
    p.mul_(1 - o.lr() * o.weight_decay());
    p.add_(changes[i], -o.lr() * ratio(o.adjust_lr_fn(), a, b));
  }
}

}  // namespace ambit::optim
