// RAdam: Adam with a rectified learning rate in the first steps, in which the estimate of the
// second moment has a large variance.
#pragma once

#include <ambit/optim/composed.h>
#include <ambit/optim/options.h>

#include <span>
#include <vector>

namespace ambit::optim {

/// Options of RAdam.
class AMBIT_API RAdamOptions : public ListedOptionsOf<RAdamOptions>,
                               public OptimizerSetters<RAdamOptions> {
 public:
  RAdamOptions(double lr = 1e-3);
  using OptimizerSetters<RAdamOptions>::lr;
  /// Learning rate; not negative. Default: 1e-3.
  AMBIT_OPTION(RAdamOptions, double, lr);
  /// Decay rates of m and v, in [0, 1).
  AMBIT_OPTION(RAdamOptions, NumberPair, betas) = {0.9, 0.999};
  /// Added to the square root of v; not negative.
  AMBIT_OPTION(RAdamOptions, double, eps) = 1e-8;
  /// Factor of the decay; not negative.
  AMBIT_OPTION(RAdamOptions, double, weight_decay) = 0;
  /// Decay the parameters as AdamW does, not the gradients.
  AMBIT_OPTION(RAdamOptions, bool, decoupled_weight_decay) = false;

 protected:
  const char* optimizer() const override;
  std::vector<OptionEntry> entries() override;
};

/// Adam with a learning rate that is corrected for the variance of v. For each parameter p with
/// gradient g, in step t = 1, 2, ..., with r_inf = 2 / (1 - beta2) - 1 and r = r_inf - 2 t beta2^t
/// / (1 - beta2^t):
///   g += weight_decay p, or with decoupled_weight_decay p -= lr weight_decay p
///   m = beta1 m + (1 - beta1) g;  v = beta2 v + (1 - beta2) g^2;  n = m / (1 - beta1^t)
///   r > 5: p -= lr n sqrt(1 - beta2^t) / (sqrt(v) + eps)
///               sqrt((r - 4) (r - 2) r_inf / ((r_inf - 4) (r_inf - 2) r)), else p -= lr n
/// Floating-point parameters of any shape. State: "step" (t, on cpu), "exp_avg" (m), "exp_avg_sq"
/// (v). Errors: Error for a negative lr, eps or weight_decay, and for betas outside [0, 1). Source:
/// Liu et al. 2020, arXiv:1908.03265; after PyTorch.
class AMBIT_API RAdam : public ComposedOptimizer {
 public:
  /// Train these parameters as one group, or groups; `defaults` apply to groups without options.
  explicit RAdam(const std::vector<Tensor>& params, const RAdamOptions& defaults = {});
  explicit RAdam(const std::vector<OptimizerParamGroup>& groups, const RAdamOptions& defaults = {});

 protected:
  const char* step_name() const override;
  std::span<const StateTensor> state_tensors() const override;
  void update_one(One& one, const OptimizerOptions& options) const override;
};

}  // namespace ambit::optim
