// BatchNorm2d.
#pragma once

#include <ambit/nn/cloneable.h>
#include <ambit/nn/options.h>

#include <optional>

namespace ambit::nn {

/// Options of BatchNorm2d: num_features is C. Defaults: eps 1e-5, momentum 0.1, affine and
/// track_running_stats true.
class BatchNorm2dOptions : public Options<BatchNorm2dOptions> {
 public:
  BatchNorm2dOptions(int64_t num_features) : num_features_(num_features) {}
  BatchNorm2dOptions& num_features(int64_t n) { return set(num_features_, n); }
  /// Added to the variance.
  BatchNorm2dOptions& eps(double v) { return set(eps_, v); }
  /// Weight of a batch in the running statistics; none: the mean of all batches.
  BatchNorm2dOptions& momentum(std::optional<double> v) { return set(momentum_, v); }
  /// Whether there are weight and bias.
  BatchNorm2dOptions& affine(bool on) { return set(affine_, on); }
  /// Whether there are running statistics; without, evaluation too goes by the batch.
  BatchNorm2dOptions& track_running_stats(bool on) { return set(track_running_stats_, on); }
  int64_t num_features() const { return num_features_; }
  double eps() const { return eps_; }
  std::optional<double> momentum() const { return momentum_; }
  bool affine() const { return affine_; }
  bool track_running_stats() const { return track_running_stats_; }

 private:
  int64_t num_features_;
  double eps_ = 1e-5;
  std::optional<double> momentum_ = 0.1;
  bool affine_ = true, track_running_stats_ = true;
};

/// Normalise each channel of x [N,C,H,W] -> y of its shape; see batch_norm().
///   y = (x - mean) / sqrt(var + eps) * weight + bias, mean and var [C] of the batch while
///   training, else the running ones
/// weight starts as ones, bias and running_mean as zeros, running_var as ones, num_batches_tracked
/// as 0. Training counts a batch after it is done.
/// Errors: Error for less than one feature; of forward ShapeError for an input that is not 4-D, or
/// that has one value per channel while training.
class AMBIT_API BatchNorm2dImpl : public Cloneable<BatchNorm2dImpl> {
 public:
  explicit BatchNorm2dImpl(const BatchNorm2dOptions& opts);
  void reset() override;
  /// Set parameters and statistics to what they start as.
  void reset_parameters();
  /// Set the statistics alone to what they start as.
  void reset_running_stats();
  Tensor forward(const Tensor& input);
  void pretty_print(std::ostream& os) const override;

  BatchNorm2dOptions options;
  Tensor weight, bias;                                    // [C], undefined if not affine
  Tensor running_mean, running_var, num_batches_tracked;  // [C], [C], int64 []; or undefined
};
AMBIT_MODULE(BatchNorm2d);

}  // namespace ambit::nn
