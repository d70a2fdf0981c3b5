// RMSprop: divides the gradient by the root of a running mean of its squares.
#pragma once

#include <ambit/nn/options.h>
#include <ambit/optim/optimizer.h>

#include <optional>

namespace ambit::optim {

/// Options of RMSprop. lr: default 1e-2; alpha: decay rate of the mean, default 0.99; eps: default
/// 1e-8; weight_decay, momentum: default 0; centered: default false.
class AMBIT_API RMSpropOptions : public OptimizerCloneableOptions<RMSpropOptions>,
                                 public nn::Options<RMSpropOptions> {
 public:
  RMSpropOptions(double lr = 1e-2);
  RMSpropOptions& lr(double v) { return set(lr_, v); }
  RMSpropOptions& alpha(double v) { return set(alpha_, v); }
  RMSpropOptions& eps(double v) { return set(eps_, v); }
  RMSpropOptions& weight_decay(double v) { return set(weight_decay_, v); }
  RMSpropOptions& momentum(double v) { return set(momentum_, v); }
  RMSpropOptions& centered(bool on) { return set(centered_, on); }
  /// See OptimizerOptions::keeps_master_weights().
  RMSpropOptions& master_weights(bool on) { return set(master_weights_, on); }
  bool master_weights() const { return master_weights_; }
  double lr() const { return lr_; }
  double& lr() { return lr_; }
  double alpha() const { return alpha_; }
  double& alpha() { return alpha_; }
  double eps() const { return eps_; }
  double& eps() { return eps_; }
  double weight_decay() const { return weight_decay_; }
  double& weight_decay() { return weight_decay_; }
  double momentum() const { return momentum_; }
  double& momentum() { return momentum_; }
  bool centered() const { return centered_; }
  bool& centered() { return centered_; }

  double get_lr() const override { return lr_; }
  void set_lr(double v) override { lr_ = v; }
  std::optional<double> get_momentum() const override { return momentum_; }
  void set_momentum(double v) override { momentum_ = v; }
  void check() const override;
  Value::Dict values() const override;
  void set_values(const Value& dict) override;
  void inherit(const OptimizerOptions& defaults) override;

 private:
  double lr_, alpha_ = 0.99, eps_ = 1e-8, weight_decay_ = 0, momentum_ = 0;
  bool centered_ = false;
};

/// Divide the gradient by the root of a running mean of its squares. In each step, for each
/// parameter p with gradient g:
///   g += weight_decay p;  v = alpha v + (1 - alpha) g^2
///   centered: a = alpha a + (1 - alpha) g, and v - a^2 replaces v
///   g = g / (sqrt(v) + eps);  with momentum buf = momentum buf + g, g = buf;  p -= lr g
/// Floating-point parameters of any shape. State: "step" (on cpu), "square_avg" (v), with momentum
/// "momentum_buffer", centered "grad_avg" (a). Errors: Error for a negative option. Source:
/// Tieleman & Hinton 2012, lecture 6.5; centered: Graves 2013, arXiv:1308.0850; after PyTorch.
class AMBIT_API RMSprop : public Optimizer {
 public:
  /// Train these parameters as one group, or groups; `defaults` apply to groups without options.
  explicit RMSprop(const std::vector<Tensor>& params, const RMSpropOptions& defaults = {});
  explicit RMSprop(const std::vector<OptimizerParamGroup>& groups,
                   const RMSpropOptions& defaults = {});

 protected:
  const char* step_name() const override;
  std::span<const StateTensor> state_tensors() const override;
  size_t scratch_tensors(const OptimizerOptions&) const override { return 2; }
  void prepare(const Tensor& param, State& state, const OptimizerOptions& options) const override;
  void update(const Batch& batch, const OptimizerOptions& options) const override;
};

}  // namespace ambit::optim
