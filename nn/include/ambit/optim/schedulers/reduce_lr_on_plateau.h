// ReduceLROnPlateau: lowers the learning rate when a metric stops improving.
#pragma once

#include <ambit/nn/options.h>
#include <ambit/optim/optimizer.h>
#include <ambit/value.h>

#include <cstdint>
#include <limits>
#include <vector>

namespace ambit::optim {

/// Options of ReduceLROnPlateau.
class AMBIT_API ReduceLROnPlateauOptions : public nn::Options<ReduceLROnPlateauOptions> {
 public:
  /// Whether a lower or a higher metric is better.
  enum class Mode : uint8_t { min, max };
  /// Whether the threshold is relative to the best metric or absolute.
  enum class ThresholdMode : uint8_t { rel, abs };

  ReduceLROnPlateauOptions(Mode mode = Mode::min) : mode_(mode) {}
  /// Whether a lower or a higher metric is better. Default: min.
  ReduceLROnPlateauOptions& mode(Mode v) { return set(mode_, v); }
  /// Factor of the rates, below 1. Default: 0.1.
  ReduceLROnPlateauOptions& factor(double v) { return set(factor_, v); }
  /// Number of steps without improvement that are ignored. Default: 10.
  ReduceLROnPlateauOptions& patience(int64_t n) { return set(patience_, n); }
  /// Smallest improvement of the metric that counts. Default: 1e-4.
  ReduceLROnPlateauOptions& threshold(double v) { return set(threshold_, v); }
  /// Whether the threshold is relative to the best metric. Default: rel.
  ReduceLROnPlateauOptions& threshold_mode(ThresholdMode v) { return set(threshold_mode_, v); }
  /// Number of steps after a change in which the metric is ignored. Default: 0.
  ReduceLROnPlateauOptions& cooldown(int64_t n) { return set(cooldown_, n); }
  /// Lower bound of the rates, one for all groups or one per group. Default: 0.
  ReduceLROnPlateauOptions& min_lr(std::vector<double> v) { return set(min_lrs_, std::move(v)); }
  ReduceLROnPlateauOptions& min_lr(double v) { return set(min_lrs_, {v}); }
  /// Smallest change of a rate that is made. Default: 1e-8.
  ReduceLROnPlateauOptions& eps(double v) { return set(eps_, v); }
  Mode mode() const { return mode_; }
  double factor() const { return factor_; }
  int64_t patience() const { return patience_; }
  double threshold() const { return threshold_; }
  ThresholdMode threshold_mode() const { return threshold_mode_; }
  int64_t cooldown() const { return cooldown_; }
  const std::vector<double>& min_lr() const { return min_lrs_; }
  double eps() const { return eps_; }

 private:
  Mode mode_;
  ThresholdMode threshold_mode_ = ThresholdMode::rel;
  double factor_ = 0.1, threshold_ = 1e-4, eps_ = 1e-8;
  int64_t patience_ = 10, cooldown_ = 0;
  std::vector<double> min_lrs_{0.0};
};

/// Multiply the rates by factor, but not below min_lr, when more than `patience` steps in a row did
/// not improve the best metric by the threshold (relative to the best, or absolute); then ignore
/// the metric for `cooldown` steps. Changes below eps are not made. The optimizer must outlive it.
/// Errors: Error for a factor of 1 or more, and if the number of min_lr is not that of the groups.
class AMBIT_API ReduceLROnPlateau {
 public:
  /// The option class.
  using Options = ReduceLROnPlateauOptions;
  /// Start without a metric; the rates are kept.
  explicit ReduceLROnPlateau(Optimizer& optimizer, const Options& options = {});

  /// Process the metric of this epoch, such as a validation loss.
  void step(double metric);
  /// Forget all metrics; the rates are kept.
  void reset();
  /// Return the best metric so far; infinity (-infinity for max) before the first.
  double best() const { return best_; }
  /// Return the number of steps in a row without improvement.
  int64_t num_bad_epochs() const { return num_bad_epochs_; }
  /// Return the number of steps.
  int64_t last_epoch() const { return last_epoch_; }
  /// Return the groups' current rates.
  std::vector<double> get_last_lr() const;

  /// Return state and options in the format of PyTorch's state_dict() of this scheduler.
  Value checkpoint() const;
  /// Replace state and options by those of a checkpoint of ambit or PyTorch. Errors: those
  /// of LRScheduler::load_checkpoint().
  void load_checkpoint(const Value& checkpoint);

 private:
  static void check(const Options& options, size_t groups);
  bool is_better(double metric) const;
  void reduce();

  Optimizer& optimizer_;
  Options options_;
  double best_ = 0;
  int64_t num_bad_epochs_ = 0, cooldown_counter_ = 0, last_epoch_ = 0;
};

/// ReduceLROnPlateau under libtorch's newer name, with separate arguments.
class ReduceLROnPlateauScheduler : public ReduceLROnPlateau {
 public:
  /// Whether a lower or a higher metric is better.
  enum SchedulerMode { min, max };
  /// Whether the threshold is relative to the best metric or absolute.
  enum ThresholdMode { rel, abs };

  /// The arguments are the options of ReduceLROnPlateau; an empty min_lr is 0, verbose is ignored.
  explicit ReduceLROnPlateauScheduler(Optimizer& optimizer, SchedulerMode mode = min,
                                      float factor = 0.1f, int patience = 10,
                                      double threshold = 1e-4, ThresholdMode threshold_mode = rel,
                                      int cooldown = 0, const std::vector<float>& min_lr = {},
                                      double eps = 1e-8, [[maybe_unused]] bool verbose = false)
      : ReduceLROnPlateau(
            optimizer,
            Options(mode == min ? Options::Mode::min : Options::Mode::max)
                .factor(factor)
                .patience(patience)
                .threshold(threshold)
                .threshold_mode(threshold_mode == rel ? Options::ThresholdMode::rel
                                                      : Options::ThresholdMode::abs)
                .cooldown(cooldown)
                .min_lr(min_lr.empty() ? std::vector<double>{0}
                                       : std::vector<double>(min_lr.begin(), min_lr.end()))
                .eps(eps)) {}
};

}  // namespace ambit::optim
