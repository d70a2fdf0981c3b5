// Rprop: resilient propagation: a step per element that follows the signs of the gradients.
#pragma once

#include <ambit/optim/composed.h>
#include <ambit/optim/options.h>

#include <span>
#include <vector>

namespace ambit::optim {

/// Options of Rprop.
class AMBIT_API RpropOptions : public ListedOptionsOf<RpropOptions>,
                               public OptimizerSetters<RpropOptions> {
 public:
  RpropOptions(double lr = 1e-2);
  using OptimizerSetters<RpropOptions>::lr;
  /// The first step of each element; not negative. Default: 1e-2.
  AMBIT_OPTION(RpropOptions, double, lr);
  /// Factors by which a step shrinks, in (0, 1), and grows, above 1.
  AMBIT_OPTION(RpropOptions, NumberPair, etas) = {0.5, 1.2};
  /// The smallest and the largest step.
  AMBIT_OPTION(RpropOptions, NumberPair, step_sizes) = {1e-6, 50};

 public:
  void check() const override;

 protected:
  const char* optimizer() const override;
  std::vector<OptionEntry> entries() override;
};

/// Move each element by its own step against the sign of the gradient. In each step, for each
/// element p with gradient g and step s, with the previous gradient g0 (0 at first):
///   s *= etas[1] if g g0 > 0, etas[0] if g g0 < 0;  limit s to step_sizes
///   g = 0 if g g0 < 0;  p -= sign(g) s;  g0 = g
/// For gradients of whole data sets. Floating-point parameters of any shape. State: "step" (on
/// cpu), "prev" (g0), "step_size" (s). Errors: Error for a negative lr, and unless 0 < etas[0] < 1
/// < etas[1]. Source: Riedmiller & Braun 1993; after PyTorch.
class AMBIT_API Rprop : public ComposedOptimizer {
 public:
  /// Train these parameters as one group, or groups; `defaults` apply to groups without options.
  explicit Rprop(const std::vector<Tensor>& params, const RpropOptions& defaults = {});
  explicit Rprop(const std::vector<OptimizerParamGroup>& groups, const RpropOptions& defaults = {});

 protected:
  const char* step_name() const override;
  std::span<const StateTensor> state_tensors() const override;
  void initialise(State& state, const OptimizerOptions& options) const override;
  const char* unrepeatable(const OptimizerOptions&) const override { return nullptr; }
  void update_one(One& one, const OptimizerOptions& options) const override;
};

}  // namespace ambit::optim
