// Adamax: Adam with the infinity norm instead of the second moment.
#pragma once

#include <ambit/optim/composed.h>
#include <ambit/optim/options.h>

#include <span>
#include <vector>

namespace ambit::optim {

/// Options of Adamax.
class AMBIT_API AdamaxOptions : public ListedOptionsOf<AdamaxOptions>,
                                public OptimizerSetters<AdamaxOptions> {
 public:
  AdamaxOptions(double lr = 2e-3);
  using OptimizerSetters<AdamaxOptions>::lr;
  /// Learning rate; not negative. Default: 2e-3.
  AMBIT_OPTION(AdamaxOptions, double, lr);
  /// Decay rates of m and u, in [0, 1).
  AMBIT_OPTION(AdamaxOptions, NumberPair, betas) = {0.9, 0.999};
  /// Added to |g|; not negative.
  AMBIT_OPTION(AdamaxOptions, double, eps) = 1e-8;
  /// Factor of the parameter that is added to its gradient; not negative.
  AMBIT_OPTION(AdamaxOptions, double, weight_decay) = 0;

 protected:
  const char* optimizer() const override;
  std::vector<OptionEntry> entries() override;
};

/// Adam with the infinity norm. For each parameter p with gradient g, in step t = 1, 2, ...:
///   g += weight_decay p;  m = beta1 m + (1 - beta1) g;  u = max(beta2 u, |g| + eps)
///   p -= lr / (1 - beta1^t) m / u
/// Floating-point parameters of any shape. State: "step" (t, on cpu), "exp_avg" (m), "exp_inf" (u).
/// Errors: Error for a negative lr, eps or weight_decay, and for betas outside [0, 1). Source:
/// Kingma & Ba 2015, arXiv:1412.6980.
class AMBIT_API Adamax : public ComposedOptimizer {
 public:
  /// Train these parameters as one group, or groups; `defaults` apply to groups without options.
  explicit Adamax(const std::vector<Tensor>& params, const AdamaxOptions& defaults = {});
  explicit Adamax(const std::vector<OptimizerParamGroup>& groups,
                  const AdamaxOptions& defaults = {});

 protected:
  const char* step_name() const override;
  std::span<const StateTensor> state_tensors() const override;
  void update_one(One& one, const OptimizerOptions& options) const override;
};

}  // namespace ambit::optim
