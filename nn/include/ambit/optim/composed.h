// ComposedOptimizer: base of the optimizers whose step is composed of ops.
#pragma once

#include <ambit/optim/optimizer.h>

#include <cstddef>
#include <cstdint>

namespace ambit::optim {

/// An optimizer that updates each parameter by ops, in place. Its first state tensor is "step".
class AMBIT_API ComposedOptimizer : public Optimizer {
 protected:
  using Optimizer::Optimizer;

  /// One parameter of a batch in one step.
  struct One {
    /// All parameters of the update.
    const Batch& batch;
    /// Position of this parameter in the batch.
    size_t index;
    Tensor grad;  ///< not to be written
    double step;  ///< from 1
    /// Return the parameter, to be written.
    const Tensor& param() const { return batch.params[index]; }
    /// Return state tensor `slot` of the parameter, to be written.
    const Tensor& state(size_t slot) const { return batch.state[slot][index]; }
    /// Return a single number of the state, for reading and writing.
    double& number(size_t slot) const { return *state(slot).data_ptr<double>(); }
    /// Return scratch tensor k; decay() uses the last one.
    const Tensor& scratch(size_t k) const { return batch.scratch[k][index]; }
    /// Decay the weights: set grad to grad + factor param.
    void decay(double factor);
    /// x = beta x + (1 - beta) g for the state tensor x in `slot`; writes scratch tensor 0.
    void update_mean(size_t slot, double beta) const;
    /// x = beta x + (1 - beta) g^2 for the state tensor x in `slot`; writes scratch tensor 0.
    void update_square(size_t slot, double beta) const;
  };

  /// Initialise a new state, which is zeros before.
  virtual void initialise(State& /*state*/, const OptimizerOptions& /*options*/) const {}
  /// Return the name of the part that a replayed graph would repeat wrongly, so that a capture is
  /// refused; null if there is none.
  virtual const char* unrepeatable(const OptimizerOptions& /*options*/) const {
    return "a step's number, which would be the same at each replay";
  }
  /// Update one parameter and its state in place.
  virtual void update_one(One& one, const OptimizerOptions& options) const = 0;

  size_t scratch_tensors(const OptimizerOptions&) const override { return kScratch; }
  void prepare(const Tensor& param, State& state, const OptimizerOptions& options) const override;
  int64_t batch_key(const State& state) const override;
  void update(const Batch& batch, const OptimizerOptions& options) const override;
};

}  // namespace ambit::optim
