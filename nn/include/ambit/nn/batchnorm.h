// BatchNorm1d, BatchNorm2d, BatchNorm3d.
#pragma once

#include <ambit/nn/cloneable.h>
#include <ambit/nn/options.h>

#include <optional>

namespace ambit::nn {

/// Options of BatchNorm1d-3d.
class BatchNormOptions : public Options<BatchNormOptions> {
 public:
  BatchNormOptions(int64_t num_features) : num_features_(num_features) {}
  /// Number of channels, C.
  BatchNormOptions& num_features(int64_t n) { return set(num_features_, n); }
  /// Added to the variance. Default: 1e-5.
  BatchNormOptions& eps(double v) { return set(eps_, v); }
  /// Weight of the new batch in the running statistics; nullopt: cumulative mean over all batches.
  /// Default: 0.1.
  BatchNormOptions& momentum(std::optional<double> v) { return set(momentum_, v); }
  /// If true, learn weight and bias [C]. Default: true.
  BatchNormOptions& affine(bool on) { return set(affine_, on); }
  /// If true, keep running statistics; if false, evaluation also uses the statistics of the batch.
  /// Default: true.
  BatchNormOptions& track_running_stats(bool on) { return set(track_running_stats_, on); }
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

using BatchNorm1dOptions = BatchNormOptions;
using BatchNorm2dOptions = BatchNormOptions;
using BatchNorm3dOptions = BatchNormOptions;

namespace detail {

/// Base of BatchNorm1d-3d: batch_norm() for inputs with least_dim to most_dim dims.
template <class Derived, int64_t least_dim, int64_t most_dim>
class AMBIT_API BatchNormImplBase : public Cloneable<Derived> {
 public:
  explicit BatchNormImplBase(const BatchNormOptions& opts);
  void reset() override;
  /// Reset parameters and running statistics to their initial values.
  void reset_parameters();
  /// Reset the running statistics to their initial values.
  void reset_running_stats();
  Tensor forward(const Tensor& input);
  void pretty_print(std::ostream& os) const override;

  BatchNormOptions options;
  Tensor weight, bias;               ///< [C], undefined unless affine
  Tensor running_mean, running_var;  ///< [C], undefined unless track_running_stats
  Tensor num_batches_tracked;        ///< number of batches in training, int64 []; or undefined
};

}  // namespace detail

/// Normalise each channel of x [N,C] or [N,C,L]; y has the same shape. See BatchNorm2d.
class AMBIT_API BatchNorm1dImpl : public detail::BatchNormImplBase<BatchNorm1dImpl, 2, 3> {
 public:
  explicit BatchNorm1dImpl(const BatchNormOptions& opts);
};
AMBIT_MODULE(BatchNorm1d);

/// Normalise each channel of x [N,C,H,W]; y has the same shape; see batch_norm().
///   y = (x - mean) / sqrt(var + eps) * weight + bias; mean and var [C] are those of the batch in
///   training, the running statistics in evaluation.
/// Initial values: weight and running_var 1, bias and running_mean 0, num_batches_tracked 0. In
/// training num_batches_tracked is incremented after the batch is normalised.
/// Errors: Error for num_features < 1; of forward ShapeError for an input that is not 4-D, or that
/// has only one value per channel in training.
class AMBIT_API BatchNorm2dImpl : public detail::BatchNormImplBase<BatchNorm2dImpl, 4, 4> {
 public:
  explicit BatchNorm2dImpl(const BatchNormOptions& opts);
};
AMBIT_MODULE(BatchNorm2d);

/// Normalise each channel of x [N,C,D,H,W]; y has the same shape. See BatchNorm2d.
class AMBIT_API BatchNorm3dImpl : public detail::BatchNormImplBase<BatchNorm3dImpl, 5, 5> {
 public:
  explicit BatchNorm3dImpl(const BatchNormOptions& opts);
};
AMBIT_MODULE(BatchNorm3d);

}  // namespace ambit::nn
