// GradScaler: losses scaled up, so that small gradients do not vanish in float16.
#pragma once

#include <ambit/nn/options.h>
#include <ambit/optim/optimizer.h>
#include <ambit/value.h>

#include <cstdint>
#include <unordered_map>
#include <vector>

namespace ambit::optim {

/// Options of GradScaler. Defaults: init_scale 65536, growth_factor 2, backoff_factor 0.5,
/// growth_interval 2000, enabled.
class AMBIT_API GradScalerOptions : public nn::Options<GradScalerOptions> {
 public:
  GradScalerOptions& init_scale(double v) { return set(init_scale_, v); }
  GradScalerOptions& growth_factor(double v) { return set(growth_factor_, v); }
  GradScalerOptions& backoff_factor(double v) { return set(backoff_factor_, v); }
  GradScalerOptions& growth_interval(int64_t n) { return set(growth_interval_, n); }
  GradScalerOptions& enabled(bool on) { return set(enabled_, on); }
  double init_scale() const { return init_scale_; }
  double growth_factor() const { return growth_factor_; }
  double backoff_factor() const { return backoff_factor_; }
  int64_t growth_interval() const { return growth_interval_; }
  bool enabled() const { return enabled_; }

 private:
  double init_scale_ = 65536, growth_factor_ = 2, backoff_factor_ = 0.5;
  int64_t growth_interval_ = 2000;
  bool enabled_ = true;
};

/// Scale a loss, and its gradients back before the optimizer's step, which is left out where one of
/// them is infinite or NaN:
///   scaler.scale(loss).backward();
///   scaler.unscale_(sgd);  // only if the gradients are looked at, as by clip_grad_norm_
///   scaler.step(sgd);
///   scaler.update();       // once for all optimizers of the step
/// update() multiplies the scale by backoff_factor after a step that was left out, and by
/// growth_factor after growth_interval steps without one, while it stays finite in float32. A
/// disabled one does nothing, and step() steps. Parameters are float32 (or bfloat16, which needs no
/// scaler): float16 gradients cannot be scaled back without loss.
/// Errors: Error for a growth_factor of 1 or less, a backoff_factor outside (0, 1), an init_scale
/// that is not positive and finite, or a growth_interval below 1.
/// Source: Micikevicius et al. 2018, arXiv:1710.03740; torch.cuda.amp.GradScaler.
class AMBIT_API GradScaler {
 public:
  using Options = GradScalerOptions;
  explicit GradScaler(const Options& options = {});

  /// Return the loss times the scale, as float32 or float64; of a list each.
  Tensor scale(const Tensor& loss);
  std::vector<Tensor> scale(TensorList losses);
  /// Divide the gradients of the optimizer's parameters by the scale, in place, and note whether
  /// all were finite: one question to each device. Errors: Error after unscale_() or step() of this
  /// optimizer since update(), or before scale(); DTypeError for a float16 gradient, and no
  /// gradient has changed then.
  void unscale_(Optimizer& optimizer);
  /// Call the optimizer's step(), after unscale_() where that was not called, if all gradients are
  /// finite. Return whether it was called. Errors: those of unscale_() and of step(); Error for a
  /// second one since update(), and where no parameter has a gradient.
  bool step(Optimizer& optimizer);
  /// Adapt the scale to what the steps since the last update have found. Errors: Error where there
  /// was none.
  void update();
  /// Set it instead. Errors: Error for one that is not positive and finite.
  void update(double new_scale);

  /// Return the scale, 1 where disabled.
  double get_scale() const { return options_.enabled() ? scale_ : 1; }
  double get_growth_factor() const { return options_.growth_factor(); }
  double get_backoff_factor() const { return options_.backoff_factor(); }
  int64_t get_growth_interval() const { return options_.growth_interval(); }
  void set_growth_factor(double v);
  void set_backoff_factor(double v);
  void set_growth_interval(int64_t n);
  bool is_enabled() const { return options_.enabled(); }

  /// Return the state as PyTorch's state_dict() has it, empty where disabled.
  Value checkpoint() const;
  /// Replace it, between update() and the next scale(). Errors: Error or SerializationError for
  /// what does not fit; then nothing has changed.
  void load_checkpoint(const Value& checkpoint);

 private:
  enum class Stage : uint8_t { ready, unscaled, stepped };
  struct OfOptimizer {
    Stage stage = Stage::ready;
    bool has_gradients = false, all_finite = true;
  };

  static void check(const Options& options);
  void change(const Options& options);
  void expect_scaled(const char* call) const;

  Options options_;
  double scale_;  // a float32
  int64_t growth_tracker_ = 0;
  bool was_used_ = false;                                 // scale() was called
  std::unordered_map<uint64_t, OfOptimizer> optimizers_;  // by Optimizer::id()
};

}  // namespace ambit::optim

namespace ambit {
using optim::GradScaler;
}
