// OneCycleLR: one cycle up to a high learning rate and down to a very low one.
#pragma once

#include <ambit/nn/options.h>
#include <ambit/optim/schedulers/epoch_lr.h>

#include <cstdint>
#include <vector>

namespace ambit::optim {

/// Options of OneCycleLR. pct_start: fraction of steps spent rising, default 0.3; anneal_linear:
/// default false (cosine); cycle_momentum: default true; base_momentum, max_momentum: default 0.85,
/// 0.95; div_factor: default 25; final_div_factor: default 1e4; three_phase: default false.
class AMBIT_API OneCycleLROptions : public nn::Options<OneCycleLROptions> {
 public:
  /// max_lr of all groups, or one per group; total_steps: the number of step() calls.
  OneCycleLROptions(double max_lr, int64_t total_steps)
      : max_lrs_{max_lr}, total_steps_(total_steps) {}
  OneCycleLROptions(std::vector<double> max_lrs, int64_t total_steps)
      : max_lrs_(std::move(max_lrs)), total_steps_(total_steps) {}
  OneCycleLROptions& pct_start(double v) { return set(pct_start_, v); }
  OneCycleLROptions& anneal_linear(bool on) { return set(anneal_linear_, on); }
  OneCycleLROptions& cycle_momentum(bool on) { return set(cycle_momentum_, on); }
  OneCycleLROptions& base_momentum(double v) { return set(base_momentum_, v); }
  OneCycleLROptions& max_momentum(double v) { return set(max_momentum_, v); }
  OneCycleLROptions& div_factor(double v) { return set(div_factor_, v); }
  OneCycleLROptions& final_div_factor(double v) { return set(final_div_factor_, v); }
  OneCycleLROptions& three_phase(bool on) { return set(three_phase_, on); }
  const std::vector<double>& max_lrs() const { return max_lrs_; }
  int64_t total_steps() const { return total_steps_; }
  double pct_start() const { return pct_start_; }
  bool anneal_linear() const { return anneal_linear_; }
  bool cycle_momentum() const { return cycle_momentum_; }
  double base_momentum() const { return base_momentum_; }
  double max_momentum() const { return max_momentum_; }
  double div_factor() const { return div_factor_; }
  double final_div_factor() const { return final_div_factor_; }
  bool three_phase() const { return three_phase_; }

 private:
  std::vector<double> max_lrs_;
  int64_t total_steps_;
  double pct_start_ = 0.3, base_momentum_ = 0.85, max_momentum_ = 0.95;
  double div_factor_ = 25, final_div_factor_ = 1e4;
  bool anneal_linear_ = false, cycle_momentum_ = true, three_phase_ = false;
};

/// Raise the rate from max_lr / div_factor to max_lr in the first pct_start of total_steps, then
/// lower it to max_lr / div_factor / final_div_factor (with three phases via max_lr / div_factor);
/// momentum (Adam: beta1) moves inversely, between max_momentum and base_momentum. Call step()
/// after every batch. The bounds are stored in the groups' schedule(). Errors: Error for options
/// out of range, cycle_momentum with an optimizer without momentum, and more than total_steps
/// steps. Source: Smith & Topin 2017, arXiv:1708.07120; after PyTorch.
class AMBIT_API OneCycleLR : public EpochLR {
 public:
  OneCycleLR(Optimizer& optimizer, const OneCycleLROptions& options);

 protected:
  double lr(const Rate& rate) override;
  Value::Dict values() const override;
  void set_values(const Value& dict) override;

 private:
  struct Phase {
    double end_step;
    const char *start_lr, *end_lr, *start_momentum, *end_momentum;  // names in schedule()
  };
  static Optimizer& prepared(Optimizer& optimizer, const OneCycleLROptions& options);
  std::vector<Phase> phases() const;

  int64_t total_steps_;
  double pct_start_;
  bool anneal_linear_, cycle_momentum_, three_phase_;
};

}  // namespace ambit::optim
