// Adagrad: a learning rate per element that falls with the sum of its squared gradients.
#pragma once

#include <ambit/nn/options.h>
#include <ambit/optim/optimizer.h>

namespace ambit::optim {

/// Options of Adagrad. lr: default 1e-2; lr_decay, weight_decay, initial_accumulator_value: default
/// 0; eps: default 1e-10.
class AMBIT_API AdagradOptions : public OptimizerCloneableOptions<AdagradOptions>,
                                 public nn::Options<AdagradOptions> {
 public:
  AdagradOptions(double lr = 1e-2);
  AdagradOptions& lr(double v) { return set(lr_, v); }
  AdagradOptions& lr_decay(double v) { return set(lr_decay_, v); }
  AdagradOptions& weight_decay(double v) { return set(weight_decay_, v); }
  AdagradOptions& initial_accumulator_value(double v) { return set(initial_sum_, v); }
  AdagradOptions& eps(double v) { return set(eps_, v); }
  /// See OptimizerOptions::keeps_master_weights().
  AdagradOptions& master_weights(bool on) { return set(master_weights_, on); }
  bool master_weights() const { return master_weights_; }
  double lr() const { return lr_; }
  double& lr() { return lr_; }
  double lr_decay() const { return lr_decay_; }
  double& lr_decay() { return lr_decay_; }
  double weight_decay() const { return weight_decay_; }
  double& weight_decay() { return weight_decay_; }
  double initial_accumulator_value() const { return initial_sum_; }
  double& initial_accumulator_value() { return initial_sum_; }
  double eps() const { return eps_; }
  double& eps() { return eps_; }

  double get_lr() const override { return lr_; }
  void set_lr(double v) override { lr_ = v; }
  void check() const override;
  Value::Dict values() const override;
  void set_values(const Value& dict) override;
  void inherit(const OptimizerOptions& defaults) override;

 private:
  double lr_, lr_decay_ = 0, weight_decay_ = 0, initial_sum_ = 0, eps_ = 1e-10;
};

/// Divide the gradient by the root of the sum of all its squares. For each parameter p with
/// gradient g, in step t = 1, 2, ...:
///   g += weight_decay p;  sum += g^2;  p -= lr / (1 + (t - 1) lr_decay) g / (sqrt(sum) + eps)
/// sum is initialised to initial_accumulator_value. Floating-point parameters of any shape. State:
/// "step" (t, on cpu), "sum". Errors: Error for a negative option. Source: Duchi et al. 2011, JMLR
/// 12.
class AMBIT_API Adagrad : public Optimizer {
 public:
  /// Train these parameters as one group, or groups; `defaults` apply to groups without options.
  explicit Adagrad(const std::vector<Tensor>& params, const AdagradOptions& defaults = {});
  explicit Adagrad(const std::vector<OptimizerParamGroup>& groups,
                   const AdagradOptions& defaults = {});

 protected:
  const char* step_name() const override;
  std::span<const StateTensor> state_tensors() const override;
  size_t scratch_tensors(const OptimizerOptions&) const override { return 2; }
  void prepare(const Tensor& param, State& state, const OptimizerOptions& options) const override;
  int64_t stage(const State& state) const override;
  void update(const Batch& batch, const OptimizerOptions& options) const override;
};

}  // namespace ambit::optim
