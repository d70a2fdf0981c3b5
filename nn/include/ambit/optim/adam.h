// Adam, and AdamW, which applies weight decay to the parameters instead of the gradients.
#pragma once

#include <ambit/optim/options.h>
#include <ambit/params.h>

#include <optional>
#include <tuple>

namespace ambit::optim {

/// The options of Adam and AdamW without their setters.
class AMBIT_API AdamOptionsBase : public OptimizerOptions {
 public:
  /// Learning rate. Default: 1e-3.
  double lr() const { return params_.lr; }
  double& lr() { return params_.lr; }
  /// Decay rates of m and v. Default: (0.9, 0.999).
  std::tuple<double, double> betas() const { return {params_.beta1, params_.beta2}; }
  /// Added to the square root of v. Default: 1e-8.
  double eps() const { return params_.eps; }
  double& eps() { return params_.eps; }
  /// Factor of the decay: of the gradient, or if decoupled of the parameter. Default: 0; 1e-2 for
  /// AdamW.
  double weight_decay() const { return params_.weight_decay; }
  double& weight_decay() { return params_.weight_decay; }
  /// Divide by the root of the largest v so far. Default: false.
  bool amsgrad() const { return amsgrad_; }
  bool& amsgrad() { return amsgrad_; }
  /// Whether steps are counted on the parameters' device. Default: false.
  bool capturable() const { return capturable_; }
  bool& capturable() { return capturable_; }
  /// Return whether weight decay shrinks the parameters and is not added to the gradients.
  bool decoupled_weight_decay() const { return params_.decoupled; }
  /// Return the options for the kernel.
  const AdamParams& params() const { return params_; }

  double get_lr() const override { return params_.lr; }
  void set_lr(double v) override { params_.lr = v; }
  std::optional<double> get_momentum() const override { return params_.beta1; }
  void set_momentum(double v) override { params_.beta1 = v; }
  void check() const override;
  Value::Dict values() const override;
  void set_values(const Value& dict) override;
  void inherit(const OptimizerOptions& defaults) override;

 protected:
  /// Hold these values. is_adamw: errors, defaults and state dicts are those of AdamW.
  explicit AdamOptionsBase(const AdamParams& params, bool is_adamw = false)
      : params_(params), is_adamw_(is_adamw) {}
  /// The options that the kernel uses.
  AdamParams params_;
  /// Divide by the largest v so far; keep step counts on the parameters' device, for graphs.
  bool amsgrad_ = false, capturable_ = false;

 private:
  bool is_adamw_;
};

/// The setters of AdamOptionsBase's options; they return the derived option class `Self`.
template <class Self>
class AdamSetters : public AdamOptionsBase, public OptimizerSetters<Self> {
 public:
  using AdamOptionsBase::amsgrad, AdamOptionsBase::betas, AdamOptionsBase::capturable,
      AdamOptionsBase::eps, AdamOptionsBase::lr, AdamOptionsBase::weight_decay;
  using OptimizerSetters<Self>::lr;
  /// Learning rate; not negative. Default: 1e-3.
  Self& lr(double v) { return this->set(params_.lr, v); }
  /// Decay rates of m and v, in [0, 1). Default: (0.9, 0.999).
  Self& betas(std::tuple<double, double> v) {
    std::tie(params_.beta1, params_.beta2) = v;
    return static_cast<Self&>(*this);
  }
  /// Added to the square root of v; not negative. Default: 1e-8.
  Self& eps(double v) { return this->set(params_.eps, v); }
  /// Factor of the decay; not negative. Default: 0; 1e-2 for AdamW.
  Self& weight_decay(double v) { return this->set(params_.weight_decay, v); }
  /// Divide by the root of the largest v so far. Default: false.
  Self& amsgrad(bool on) { return this->set(amsgrad_, on); }
  /// Count steps on the parameters' device, as PyTorch's option of this name, so that a CUDA graph
  /// can capture steps (<ambit/cuda_graph.h>). Not with amsgrad. Default: false.
  Self& capturable(bool on) { return this->set(capturable_, on); }
  /// Return a copy of these options.
  std::unique_ptr<OptimizerOptions> clone() const override {
    return std::make_unique<Self>(static_cast<const Self&>(*this));
  }

 protected:
  using AdamOptionsBase::AdamOptionsBase;
};

/// Options of Adam.
class AMBIT_API AdamOptions : public AdamSetters<AdamOptions> {
 public:
  AdamOptions(double lr = 1e-3);
  using AdamSetters::decoupled_weight_decay;
  /// Decay weights as AdamW does. Default: false.
  AdamOptions& decoupled_weight_decay(bool on) { return set(params_.decoupled, on); }
};
/// Options of AdamW: those of Adam, but weight_decay is 1e-2 by default.
class AMBIT_API AdamWOptions : public AdamSetters<AdamWOptions> {
 public:
  AdamWOptions(double lr = 1e-3);
};

/// Descend by running estimates of the gradient's moments. For each parameter p with gradient g, in
/// step t = 1, 2, ...:
///   g += weight_decay p;  m = beta1 m + (1 - beta1) g;  v = beta2 v + (1 - beta2) g^2
///   p -= lr (m / (1 - beta1^t)) / (sqrt(v / (1 - beta2^t)) + eps)
/// with amsgrad the maximum of all v so far replaces v, with decoupled_weight_decay p is decayed as
/// by AdamW. Floating-point parameters of any shape.
/// State: "step" (t, on cpu; if capturable, float32 on the parameter's device), "exp_avg" (m),
/// "exp_avg_sq" (v), with amsgrad "max_exp_avg_sq". Errors: Error for a negative lr, eps or
/// weight_decay, for betas outside [0, 1), and for amsgrad with capturable. Source: Kingma & Ba
/// 2015, arXiv:1412.6980; amsgrad: Reddi et al. 2018, arXiv:1904.09237.
class AMBIT_API Adam : public Optimizer {
 public:
  /// Train these parameters as one group, or groups; `defaults` apply to groups without options.
  explicit Adam(const std::vector<Tensor>& params, const AdamOptions& defaults = {});
  explicit Adam(const std::vector<OptimizerParamGroup>& groups, const AdamOptions& defaults = {});

 protected:
  using Optimizer::Optimizer;
  const char* step_name() const override;
  std::span<const StateTensor> state_tensors() const override;
  size_t scratch_tensors(const OptimizerOptions& options) const override;
  void prepare(const Tensor& param, State& state, const OptimizerOptions& options) const override;
  int64_t batch_key(const State& state) const override;
  void update(const Batch& batch, const OptimizerOptions& options) const override;

 private:
  static void update_amsgrad(const Batch& batch, const AdamParams& params);
};

/// Adam with decoupled weight decay: p -= lr weight_decay p before the step, instead of g +=
/// weight_decay p. Source: Loshchilov & Hutter 2019, arXiv:1711.05101.
class AMBIT_API AdamW : public Adam {
 public:
  /// Train these parameters as one group, or groups; `defaults` apply to groups without options.
  explicit AdamW(const std::vector<Tensor>& params, const AdamWOptions& defaults = {});
  explicit AdamW(const std::vector<OptimizerParamGroup>& groups, const AdamWOptions& defaults = {});

 protected:
  const char* step_name() const override;
};

}  // namespace ambit::optim
