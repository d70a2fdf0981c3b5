// RMSprop: divides the gradient by the root of a running mean of its squares.
#pragma once

#include <ambit/optim/composed.h>
#include <ambit/optim/options.h>

#include <span>
#include <vector>

namespace ambit::optim {

/// Options of RMSprop; none may be negative.
class AMBIT_API RMSpropOptions : public ListedOptionsOf<RMSpropOptions>,
                                 public OptimizerSetters<RMSpropOptions> {
 public:
  RMSpropOptions(double lr = 1e-2);
  using OptimizerSetters<RMSpropOptions>::lr;
  /// Learning rate. Default: 1e-2.
  AMBIT_OPTION(RMSpropOptions, double, lr);
  /// Decay rate of the mean of squares.
  AMBIT_OPTION(RMSpropOptions, double, alpha) = 0.99;
  /// Added to the root.
  AMBIT_OPTION(RMSpropOptions, double, eps) = 1e-8;
  /// Factor of the parameter that is added to its gradient.
  AMBIT_OPTION(RMSpropOptions, double, weight_decay) = 0;
  /// Decay rate of the sum of steps; 0: none.
  AMBIT_OPTION(RMSpropOptions, double, momentum) = 0;
  /// Divide by the root of the variance, not of the mean of squares.
  AMBIT_OPTION(RMSpropOptions, bool, centered) = false;

 protected:
  const char* optimizer() const override;
  std::vector<OptionEntry> entries() override;
};

/// Divide the gradient by the root of a running mean of its squares. In each step, for each
/// parameter p with gradient g:
///   g += weight_decay p;  v = alpha v + (1 - alpha) g^2
///   centered: a = alpha a + (1 - alpha) g, and v - a^2 replaces v
///   g = g / (sqrt(v) + eps);  with momentum buf = momentum buf + g, g = buf;  p -= lr g
/// Floating-point parameters of any shape. State: "step" (on cpu), "square_avg" (v), with momentum
/// "momentum_buffer", centered "grad_avg" (a). Errors: Error for a negative option. Source:
/// Tieleman & Hinton 2012, lecture 6.5; centered: Graves 2013, arXiv:1308.0850; after PyTorch.
class AMBIT_API RMSprop : public ComposedOptimizer {
 public:
  /// Train these parameters as one group, or groups; `defaults` apply to groups without options.
  explicit RMSprop(const std::vector<Tensor>& params, const RMSpropOptions& defaults = {});
  explicit RMSprop(const std::vector<OptimizerParamGroup>& groups,
                   const RMSpropOptions& defaults = {});

 protected:
  const char* step_name() const override;
  std::span<const StateTensor> state_tensors() const override;
  const char* unrepeatable(const OptimizerOptions&) const override { return nullptr; }
  void prepare(const Tensor& param, State& state, const OptimizerOptions& options) const override;
  void update_one(One& one, const OptimizerOptions& options) const override;
};

}  // namespace ambit::optim
