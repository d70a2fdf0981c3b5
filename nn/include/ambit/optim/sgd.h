// SGD: stochastic gradient descent with momentum.
#pragma once

#include <ambit/optim/options.h>
#include <ambit/params.h>

namespace ambit::optim {

/// Options of SGD.
class AMBIT_API SGDOptions : public OptimizerCloneableOptions<SGDOptions>,
                             public OptimizerSetters<SGDOptions> {
 public:
  SGDOptions(double lr);
  using OptimizerSetters<SGDOptions>::lr;
  /// Learning rate; required, not negative.
  SGDOptions& lr(double v) { return set(params_.lr, v); }
  /// Decay rate of the running mean of gradients; 0: none. Default: 0.
  SGDOptions& momentum(double v) { return set(params_.momentum, v); }
  /// The new gradient has the factor 1 - dampening in that mean. Default: 0.
  SGDOptions& dampening(double v) { return set(params_.dampening, v); }
  /// Factor of the parameter that is added to its gradient. Default: 0.
  SGDOptions& weight_decay(double v) { return set(params_.weight_decay, v); }
  /// Nesterov momentum, which needs momentum and no dampening. Default: false.
  SGDOptions& nesterov(bool on) { return set(params_.nesterov, on); }
  double lr() const { return params_.lr; }
  double& lr() { return params_.lr; }
  double momentum() const { return params_.momentum; }
  double& momentum() { return params_.momentum; }
  double dampening() const { return params_.dampening; }
  double& dampening() { return params_.dampening; }
  double weight_decay() const { return params_.weight_decay; }
  double& weight_decay() { return params_.weight_decay; }
  bool nesterov() const { return params_.nesterov; }
  bool& nesterov() { return params_.nesterov; }
  /// Return the options for the kernel.
  const SgdParams& params() const { return params_; }

  double get_lr() const override { return lr(); }
  void set_lr(double v) override { lr(v); }
  std::optional<double> get_momentum() const override { return momentum(); }
  void set_momentum(double v) override { momentum(v); }
  void check() const override;
  Value::Dict values() const override;
  void set_values(const Value& dict) override;
  void inherit(const OptimizerOptions& defaults) override;

 private:
  SgdParams params_;
};

/// Descend along the gradient. In each step, for each parameter p with gradient g:
///   g += weight_decay p;  buf = momentum buf + (1 - dampening) g (in the first step buf = g);
///   g = buf, or with nesterov g + momentum buf;  p -= lr g
/// Floating-point parameters of any shape. State: "momentum_buffer", if momentum is not 0. Errors:
/// Error for a negative lr, momentum or weight_decay, and for nesterov without momentum or with
/// dampening. Source: Sutskever et al. 2013, ICML; after PyTorch.
class AMBIT_API SGD : public Optimizer {
 public:
  /// Train these parameters as one group, or groups; `defaults` apply to groups without options.
  SGD(const std::vector<Tensor>& params, const SGDOptions& defaults);
  SGD(const std::vector<OptimizerParamGroup>& groups, const SGDOptions& defaults);

 protected:
  const char* step_name() const override;
  std::span<const StateTensor> state_tensors() const override;
  void prepare(const Tensor& param, State& state, const OptimizerOptions& options) const override;
  int64_t batch_key(const State& state) const override;
  void update(const Batch& batch, const OptimizerOptions& options) const override;
};

}  // namespace ambit::optim
