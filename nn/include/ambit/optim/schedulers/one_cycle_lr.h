// OneCycleLR: one cycle up to a high learning rate and down to a very low one.
#pragma once

#include <ambit/nn/options.h>
#include <ambit/optim/schedulers/epoch_lr.h>

#include <cstdint>
#include <vector>

namespace ambit::optim {

/// Options of OneCycleLR.
class AMBIT_API OneCycleLROptions : public nn::Options<OneCycleLROptions> {
 public:
  /// max_lr of all groups, or one per group; total_steps: the number of step() calls.
  OneCycleLROptions(double max_lr, int64_t total_steps)
      : max_lrs_{max_lr}, total_steps_(total_steps) {}
  OneCycleLROptions(std::vector<double> max_lrs, int64_t total_steps)
      : max_lrs_(std::move(max_lrs)), total_steps_(total_steps) {}
  /// Fraction of the steps in which the rate rises. Default: 0.3.
  OneCycleLROptions& pct_start(double v) { return set(pct_start_, v); }
  /// Change the rate linearly, not along a cosine. Default: false.
  OneCycleLROptions& anneal_linear(bool on) { return set(anneal_linear_, on); }
  /// Also change the momentum, inversely to the rate. Default: true.
  OneCycleLROptions& cycle_momentum(bool on) { return set(cycle_momentum_, on); }
  /// Momentum at the highest rate. Default: 0.85.
  OneCycleLROptions& base_momentum(double v) { return set(base_momentum_, v); }
  /// Momentum at the lowest rate. Default: 0.95.
  OneCycleLROptions& max_momentum(double v) { return set(max_momentum_, v); }
  /// The first rate is max_lr / div_factor. Default: 25.
  OneCycleLROptions& div_factor(double v) { return set(div_factor_, v); }
  /// The last rate is the first one / final_div_factor. Default: 1e4.
  OneCycleLROptions& final_div_factor(double v) { return set(final_div_factor_, v); }
  /// Lower the rate to the first one as fast as it rose, then to the last one. Default: false.
  OneCycleLROptions& three_phase(bool on) { return set(three_phase_, on); }
  /// Return the highest rate, of all groups or of each.
  const std::vector<double>& max_lrs() const { return max_lrs_; }
  /// Return the number of step() calls of the cycle.
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
  /// Set the rate and momentum of step 0 in all groups.
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
