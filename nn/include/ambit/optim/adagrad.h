// Adagrad: a learning rate per element that falls with the sum of its squared gradients.
#pragma once

#include <ambit/optim/composed.h>
#include <ambit/optim/options.h>

#include <span>
#include <vector>

namespace ambit::optim {

/// Options of Adagrad; none may be negative.
class AMBIT_API AdagradOptions : public ListedOptionsOf<AdagradOptions>,
                                 public OptimizerSetters<AdagradOptions> {
 public:
  AdagradOptions(double lr = 1e-2);
  using OptimizerSetters<AdagradOptions>::lr;
  /// Learning rate. Default: 1e-2.
  AMBIT_OPTION(AdagradOptions, double, lr);
  /// The rate of step t is lr / (1 + (t - 1) lr_decay).
  AMBIT_OPTION(AdagradOptions, double, lr_decay) = 0;
  /// Factor of the parameter that is added to its gradient.
  AMBIT_OPTION(AdagradOptions, double, weight_decay) = 0;
  /// Initial sum of squares.
  AMBIT_OPTION(AdagradOptions, double, initial_accumulator_value) = 0;
  /// Added to the root.
  AMBIT_OPTION(AdagradOptions, double, eps) = 1e-10;

 protected:
  const char* optimizer() const override;
  std::vector<OptionEntry> entries() override;
};

/// Divide the gradient by the root of the sum of all its squares. For each parameter p with
/// gradient g, in step t = 1, 2, ...:
///   g += weight_decay p;  sum += g^2;  p -= lr / (1 + (t - 1) lr_decay) g / (sqrt(sum) + eps)
/// sum is initialised to initial_accumulator_value. Floating-point parameters of any shape. State:
/// "step" (t, on cpu), "sum". Errors: Error for a negative option. Source: Duchi et al. 2011, JMLR
/// 12.
class AMBIT_API Adagrad : public ComposedOptimizer {
 public:
  /// Train these parameters as one group, or groups; `defaults` apply to groups without options.
  explicit Adagrad(const std::vector<Tensor>& params, const AdagradOptions& defaults = {});
  explicit Adagrad(const std::vector<OptimizerParamGroup>& groups,
                   const AdagradOptions& defaults = {});

 protected:
  const char* step_name() const override;
  std::span<const StateTensor> state_tensors() const override;
  void initialise(State& state, const OptimizerOptions& options) const override;
  const char* unrepeatable(const OptimizerOptions& options) const override;
  void update_one(One& one, const OptimizerOptions& options) const override;
};

}  // namespace ambit::optim
