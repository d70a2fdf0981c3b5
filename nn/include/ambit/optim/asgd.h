// ASGD: stochastic gradient descent that also averages the parameters.
#pragma once

#include <ambit/optim/composed.h>
#include <ambit/optim/options.h>

#include <span>
#include <vector>

namespace ambit::optim {

/// Options of ASGD.
class AMBIT_API ASGDOptions : public ListedOptionsOf<ASGDOptions>,
                              public OptimizerSetters<ASGDOptions> {
 public:
  ASGDOptions(double lr = 1e-2);
  using OptimizerSetters<ASGDOptions>::lr;
  /// Learning rate of the first step; not negative. Default: 1e-2.
  AMBIT_OPTION(ASGDOptions, double, lr);
  /// Decay of the parameters and of the rate; not negative.
  AMBIT_OPTION(ASGDOptions, double, lambd) = 1e-4;
  /// Power of the rate's decay; not negative.
  AMBIT_OPTION(ASGDOptions, double, alpha) = 0.75;
  /// The step after which parameters are averaged; until then "ax" is their copy.
  AMBIT_OPTION(ASGDOptions, double, t0) = 1e6;
  /// Factor of the parameter that is added to its gradient; not negative.
  AMBIT_OPTION(ASGDOptions, double, weight_decay) = 0;

 protected:
  const char* optimizer() const override;
  std::vector<OptionEntry> entries() override;
};

/// Averaged stochastic gradient descent. For each parameter p with gradient g, in step t = 1, 2,
/// ..., with eta = lr and mu = 1 at first:
///   g += weight_decay p;  p = (1 - lambd eta) p - eta g;  ax += mu (p - ax)
///   eta = lr / (1 + lambd lr t)^alpha;  mu = 1 / max(1, t - t0)
/// So a new lr is used one step later. Floating-point parameters of any shape. State: "step" (t),
/// "eta" and "mu", on cpu, "ax" (the average). Errors: Error for a negative lr, lambd, alpha or
/// weight_decay. Source: Polyak & Juditsky 1992; after PyTorch.
class AMBIT_API ASGD : public ComposedOptimizer {
 public:
  /// Train these parameters as one group, or groups; `defaults` apply to groups without options.
  explicit ASGD(const std::vector<Tensor>& params, const ASGDOptions& defaults = {});
  explicit ASGD(const std::vector<OptimizerParamGroup>& groups, const ASGDOptions& defaults = {});

 protected:
  const char* step_name() const override;
  std::span<const StateTensor> state_tensors() const override;
  void initialise(State& state, const OptimizerOptions& options) const override;
  void update_one(One& one, const OptimizerOptions& options) const override;
};

}  // namespace ambit::optim
