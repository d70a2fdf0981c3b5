// GradScaler: scales losses so that small float16 gradients do not underflow.
#pragma once

#include <ambit/nn/options.h>
#include <ambit/optim/optimizer.h>
#include <ambit/value.h>

#include <cstdint>
#include <unordered_map>
#include <vector>

namespace ambit::optim {

/// Options of GradScaler.
class AMBIT_API GradScalerOptions : public nn::Options<GradScalerOptions> {
 public:
  /// The first scale; positive. Default: 65536.
  GradScalerOptions& init_scale(double v) { return set(init_scale_, v); }
  /// Factor of the scale after growth_interval steps; above 1. Default: 2.
  GradScalerOptions& growth_factor(double v) { return set(growth_factor_, v); }
  /// Factor of the scale after a skipped step, in (0, 1). Default: 0.5.
  GradScalerOptions& backoff_factor(double v) { return set(backoff_factor_, v); }
  /// Number of steps between growths, at least 1. Default: 2000.
  GradScalerOptions& growth_interval(int64_t n) { return set(growth_interval_, n); }
  /// If false, the scaler only calls the optimizer's step(). Default: true.
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

/// Scale a loss, scale its gradients back before the optimizer's step, and skip the step if a
/// gradient is infinite or NaN:
///   scaler.scale(loss).backward();
///   scaler.unscale_(sgd);  // only if the gradients are used, for example by clip_grad_norm_
///   scaler.step(sgd);
///   scaler.update();       // once for all optimizers of the step
/// update() multiplies the scale by backoff_factor after a skipped step, and by growth_factor after
/// growth_interval steps without one, as long as it stays finite in float32. A disabled scaler only
/// calls the optimizer's step(). Parameters must be float32 (or bfloat16, which needs no scaling):
/// float16 gradients cannot be scaled back without loss.
/// Errors: Error for a growth_factor of at most 1, a backoff_factor outside (0, 1), an init_scale
/// that is not positive and finite, or a growth_interval below 1.
/// Source: Micikevicius et al. 2018, arXiv:1710.03740; torch.cuda.amp.GradScaler.
class AMBIT_API GradScaler {
 public:
  /// The option class.
  using Options = GradScalerOptions;
  /// Make a scaler with these options. Errors: see the class.
  explicit GradScaler(const Options& options = {});

  /// Return the loss times the scale, as float32 or float64; for a list, each loss.
  Tensor scale(const Tensor& loss);
  std::vector<Tensor> scale(TensorList losses);
  /// Divide the gradients of the optimizer's parameters by the scale, in place, and record whether
  /// all are finite (one device-to-host copy per device and dtype). Errors: Error after unscale_()
  /// or step() of this optimizer since the last update(), or before scale(); DTypeError for a
  /// float16 gradient; then no gradient has changed.
  void unscale_(Optimizer& optimizer);
  /// Call unscale_() unless that was done, then the optimizer's step() if all gradients are finite.
  /// Return whether it was called. Errors: those of unscale_() and of step(); Error for a second
  /// call since the last update(), and if no parameter has a gradient.
  bool step(Optimizer& optimizer);
  /// Adapt the scale to the results of the steps since the last update. Errors: Error if there were
  /// none.
  void update();
  /// Set the scale. Errors: Error unless it is positive and finite.
  void update(double new_scale);

  /// Return the scale, 1 if disabled.
  double get_scale() const { return options_.enabled() ? scale_ : 1; }
  /// Return the option growth_factor.
  double get_growth_factor() const { return options_.growth_factor(); }
  /// Return the option backoff_factor.
  double get_backoff_factor() const { return options_.backoff_factor(); }
  /// Return the option growth_interval.
  int64_t get_growth_interval() const { return options_.growth_interval(); }
  /// Change growth_factor from the next update() on. Errors: Error unless it is above 1.
  void set_growth_factor(double v);
  /// Change backoff_factor from the next update() on. Errors: Error unless it is in (0, 1).
  void set_backoff_factor(double v);
  /// Change growth_interval, a number of steps. Errors: Error unless it is at least 1.
  void set_growth_interval(int64_t n);
  /// Return the option enabled.
  bool is_enabled() const { return options_.enabled(); }

  /// Return the state in the format of PyTorch's state_dict(), empty if disabled.
  Value checkpoint() const;
  /// Replace the state; allowed between update() and the next scale(). Errors: Error or
  /// SerializationError for an invalid state; then nothing has changed.
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
  double scale_;  // a float32 value
  int64_t growth_tracker_ = 0;
  bool was_used_ = false;                                 // scale() was called
  std::unordered_map<uint64_t, OfOptimizer> optimizers_;  // by Optimizer::id()
};

}  // namespace ambit::optim

namespace ambit {
using optim::GradScaler;
}
