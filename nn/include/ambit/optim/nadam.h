// NAdam: Adam with Nesterov momentum.
#pragma once

#include <ambit/optim/composed.h>
#include <ambit/optim/options.h>

#include <span>
#include <vector>

namespace ambit::optim {

/// Options of NAdam.
class AMBIT_API NAdamOptions : public ListedOptionsOf<NAdamOptions>,
                               public OptimizerSetters<NAdamOptions> {
 public:
  NAdamOptions(double lr = 2e-3);
  using OptimizerSetters<NAdamOptions>::lr;
  /// Learning rate; not negative. Default: 2e-3.
  AMBIT_OPTION(NAdamOptions, double, lr);
  /// Decay rates of m and v, in [0, 1).
  AMBIT_OPTION(NAdamOptions, NumberPair, betas) = {0.9, 0.999};
  /// Added to the square root of v; not negative.
  AMBIT_OPTION(NAdamOptions, double, eps) = 1e-8;
  /// Factor of the decay; not negative.
  AMBIT_OPTION(NAdamOptions, double, weight_decay) = 0;
  /// How fast mu_t rises to beta1; not negative.
  AMBIT_OPTION(NAdamOptions, double, momentum_decay) = 4e-3;
  /// Decay the parameters as AdamW does, not the gradients.
  AMBIT_OPTION(NAdamOptions, bool, decoupled_weight_decay) = false;

 protected:
  const char* optimizer() const override;
  std::vector<OptionEntry> entries() override;
};

/// Adam with Nesterov momentum. For each parameter p with gradient g, in step t = 1, 2, ...:
///   g += weight_decay p, or with decoupled_weight_decay p -= lr weight_decay p
///   mu_t = beta1 (1 - 0.96^(t momentum_decay) / 2);  P = mu_1 mu_2 ... mu_t
///   m = beta1 m + (1 - beta1) g;  v = beta2 v + (1 - beta2) g^2
///   p -= lr ((1 - mu_t) g / (1 - P) + mu_(t+1) m / (1 - P mu_(t+1)))
///        / (sqrt(v / (1 - beta2^t)) + eps)
/// Floating-point parameters of any shape. State: "step" (t) and "mu_product" (P), on cpu,
/// "exp_avg" (m), "exp_avg_sq" (v). Errors: Error for a negative lr, eps, weight_decay or
/// momentum_decay, and for betas outside [0, 1). Source: Dozat 2016, ICLR workshop; after PyTorch.
class AMBIT_API NAdam : public ComposedOptimizer {
 public:
  /// Train these parameters as one group, or groups; `defaults` apply to groups without options.
  explicit NAdam(const std::vector<Tensor>& params, const NAdamOptions& defaults = {});
  explicit NAdam(const std::vector<OptimizerParamGroup>& groups, const NAdamOptions& defaults = {});

 protected:
  const char* step_name() const override;
  std::span<const StateTensor> state_tensors() const override;
  void initialise(State& state, const OptimizerOptions& options) const override;
  void update_one(One& one, const OptimizerOptions& options) const override;
};

}  // namespace ambit::optim
