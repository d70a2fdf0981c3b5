// Adadelta: a rate per element from running means of squared gradients and squared changes.
#pragma once

#include <ambit/optim/composed.h>
#include <ambit/optim/options.h>

#include <span>
#include <vector>

namespace ambit::optim {

/// Options of Adadelta.
class AMBIT_API AdadeltaOptions : public ListedOptionsOf<AdadeltaOptions>,
                                  public OptimizerSetters<AdadeltaOptions> {
 public:
  AdadeltaOptions(double lr = 1);
  using OptimizerSetters<AdadeltaOptions>::lr;
  /// Factor of the change; not negative. Default: 1.
  AMBIT_OPTION(AdadeltaOptions, double, lr);
  /// Decay rate of both means, in [0, 1].
  AMBIT_OPTION(AdadeltaOptions, double, rho) = 0.9;
  /// Added to both means; not negative.
  AMBIT_OPTION(AdadeltaOptions, double, eps) = 1e-6;
  /// Factor of the parameter that is added to its gradient; not negative.
  AMBIT_OPTION(AdadeltaOptions, double, weight_decay) = 0;

 protected:
  const char* optimizer() const override;
  std::vector<OptionEntry> entries() override;
};

/// Scale the gradient by the ratio of two running means. In each step, for each parameter p with
/// gradient g:
///   g += weight_decay p;  v = rho v + (1 - rho) g^2;  d = sqrt(u + eps) / sqrt(v + eps) g
///   u = rho u + (1 - rho) d^2;  p -= lr d
/// Floating-point parameters of any shape. State: "step" (on cpu), "square_avg" (v), "acc_delta"
/// (u). Errors: Error for a negative lr, eps or weight_decay, and for rho outside [0, 1]. Source:
/// Zeiler 2012, arXiv:1212.5701.
class AMBIT_API Adadelta : public ComposedOptimizer {
 public:
  /// Train these parameters as one group, or groups; `defaults` apply to groups without options.
  explicit Adadelta(const std::vector<Tensor>& params, const AdadeltaOptions& defaults = {});
  explicit Adadelta(const std::vector<OptimizerParamGroup>& groups,
                    const AdadeltaOptions& defaults = {});

 protected:
  const char* step_name() const override;
  std::span<const StateTensor> state_tensors() const override;
  const char* unrepeatable(const OptimizerOptions&) const override { return nullptr; }
  void update_one(One& one, const OptimizerOptions& options) const override;
};

}  // namespace ambit::optim
