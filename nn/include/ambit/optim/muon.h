// Muon: momentum whose matrices are orthogonalised.
#pragma once

#include <ambit/optim/options.h>

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <vector>

namespace ambit::optim {

/// Three numbers, such as ns_coefficients.
using NumberTriple = std::tuple<double, double, double>;

/// Options of Muon.
class AMBIT_API MuonOptions : public ListedOptionsOf<MuonOptions>, public nn::Options<MuonOptions> {
 public:
  MuonOptions(double lr = 1e-3);
  /// Learning rate; not negative. Default: 1e-3.
  AMBIT_OPTION(MuonOptions, double, lr);
  /// Decay of the parameters, a factor of lr; not negative.
  AMBIT_OPTION(MuonOptions, double, weight_decay) = 0.1;
  /// Decay rate of the running mean of gradients.
  AMBIT_OPTION(MuonOptions, double, momentum) = 0.95;
  /// Nesterov momentum.
  AMBIT_OPTION(MuonOptions, bool, nesterov) = true;
  /// a, b and c of the Newton-Schulz iteration.
  AMBIT_OPTION(MuonOptions, NumberTriple, ns_coefficients) = {3.4445, -4.775, 2.0315};
  /// Smallest norm to divide by.
  AMBIT_OPTION(MuonOptions, double, eps) = 1e-7;
  /// Number of Newton-Schulz iterations, below 100.
  AMBIT_OPTION(MuonOptions, int64_t, ns_steps) = 5;
  /// The ratio r: "original", "match_rms_adamw" or "spectral_unclamped". Default: none, which is
  /// "original".
  AMBIT_OPTION(MuonOptions, std::optional<std::string>, adjust_lr_fn);

 public:
  /// See OptimizerOptions::keeps_master_weights(). Default: false.
  MuonOptions& master_weights(bool on) { return set(master_weights_, on); }
  bool master_weights() const { return master_weights_; }
  void check() const override;

 protected:
  const char* optimizer() const override;
  std::vector<OptionEntry> entries() override;
};

/// Momentum whose matrices are made nearly orthogonal, for the hidden layers of networks; use AdamW
/// for other parameters. In each step, for each matrix p [A, B] with gradient g:
///   buf = momentum buf + (1 - momentum) g
///   u = buf, or with nesterov (1 - momentum) g + momentum buf
///   x = u / max(|u|, eps), in bfloat16, transposed if A > B, and ns_steps times, with
///   (a, b, c) = ns_coefficients:  G = x x^T;  x = a x + (b G + c G G) x
///   p = (1 - lr weight_decay) p - lr r x
/// The ratio r is sqrt(max(1, A / B)), with "match_rms_adamw" 0.2 sqrt(max(A, B)), with
/// "spectral_unclamped" sqrt(A / B). State: "momentum_buffer" (buf). Errors: ShapeError for a
/// parameter that is not a matrix; Error for a negative lr, momentum or weight_decay, for 100
/// ns_steps or more, and for any other adjust_lr_fn; OutOfMemoryError, after which parameters of
/// other groups may have been updated. Source: Jordan et al. 2024,
/// kellerjordan.github.io/posts/muon; Liu et al. 2025, arXiv:2502.16982; after PyTorch.
class AMBIT_API Muon : public Optimizer {
 public:
  /// Train these parameters as one group, or groups; `defaults` apply to groups without options.
  explicit Muon(const std::vector<Tensor>& params, const MuonOptions& defaults = {});
  explicit Muon(const std::vector<OptimizerParamGroup>& groups, const MuonOptions& defaults = {});

 protected:
  const char* step_name() const override;
  std::span<const StateTensor> state_tensors() const override;
  size_t scratch_tensors(const OptimizerOptions&) const override { return 2; }
  void prepare(const Tensor& param, State& state, const OptimizerOptions& options) const override;
  void update(const Batch& batch, const OptimizerOptions& options) const override;
};

}  // namespace ambit::optim
