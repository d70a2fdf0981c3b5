// LayerNorm, RMSNorm, GroupNorm, InstanceNorm1d-3d, LocalResponseNorm, CrossMapLRN2d: normalisation
// within each sample. Integer options are in elements; eps is added to the variance or mean square.
#pragma once

#include <ambit/nn/cloneable.h>
#include <ambit/nn/options.h>
#include <ambit/ops/norm.h>

#include <optional>
#include <vector>

namespace ambit::nn {

namespace functional {

using ambit::group_norm;
/// group_norm with one group per channel. use_input_stats: normalise by the input's statistics and
/// update the running statistics [C], if defined; false: normalise by the running statistics.
/// Errors and gradient: as group_norm. Source: Ulyanov et al. 2016, arXiv:1607.08022.
AMBIT_API Tensor instance_norm(const Tensor& input, const Tensor& running_mean = {},
                               const Tensor& running_var = {}, const Tensor& weight = {},
                               const Tensor& bias = {}, bool use_input_stats = true,
                               double momentum = 0.1, double eps = 1e-5);
/// y = x / (k + alpha mean of x^2 over `size` channels around it)^beta, x [N,C,...]. Errors:
/// ShapeError, DTypeError; Error for size < 1. Gradient: input. Source: Krizhevsky et al. 2012,
/// section 3.3.
AMBIT_API Tensor local_response_norm(const Tensor& input, int64_t size, double alpha = 1e-4,
                                     double beta = 0.75, double k = 1);

}  // namespace functional

/// Options of LayerNorm.
class LayerNormOptions : public Options<LayerNormOptions> {
 public:
  LayerNormOptions(std::vector<int64_t> normalized_shape)
      : normalized_shape_(std::move(normalized_shape)) {}
  LayerNormOptions(int64_t last) : normalized_shape_{last} {}

  /// Sizes of the last dims, which are normalised together.
  AMBIT_OPTION(LayerNormOptions, std::vector<int64_t>, normalized_shape);
  /// Added to the variance.
  AMBIT_OPTION(LayerNormOptions, double, eps) = 1e-5;
  /// Learn a weight and a bias for each element.
  AMBIT_OPTION(LayerNormOptions, bool, elementwise_affine) = true;
};

/// layer_norm(): x [..., normalized_shape] -> the same shape; weight and bias have normalized_shape
/// and are initialised to 1 and 0. Errors: Error for an empty normalized_shape; of forward those of
/// layer_norm().
class AMBIT_API LayerNormImpl : public Cloneable<LayerNormImpl> {
 public:
  LayerNormImpl(std::vector<int64_t> normalized_shape);
  explicit LayerNormImpl(const LayerNormOptions& opts);
  void reset() override;
  /// Reset weight to 1 and bias to 0.
  void reset_parameters();
  Tensor forward(const Tensor& input);
  void pretty_print(std::ostream& os) const override;

  LayerNormOptions options;
  /// [normalized_shape]; undefined unless elementwise_affine.
  Tensor weight, bias;
};
AMBIT_MODULE(LayerNorm);

/// Options of GroupNorm.
class GroupNormOptions : public Options<GroupNormOptions> {
 public:
  GroupNormOptions(int64_t num_groups, int64_t num_channels)
      : num_groups_(num_groups), num_channels_(num_channels) {}

  /// Number of groups of channels that are normalised together; divides num_channels.
  AMBIT_OPTION(GroupNormOptions, int64_t, num_groups);
  /// Size of dim 1 of the input.
  AMBIT_OPTION(GroupNormOptions, int64_t, num_channels);
  /// Added to the variance.
  AMBIT_OPTION(GroupNormOptions, double, eps) = 1e-5;
  /// Learn a weight and a bias for each channel.
  AMBIT_OPTION(GroupNormOptions, bool, affine) = true;
};

/// group_norm(): x [N, num_channels, ...] -> the same shape; weight and bias [num_channels] are
/// initialised to 1 and 0. Errors: Error for sizes below 1 or groups that do not divide the
/// channels.
class AMBIT_API GroupNormImpl : public Cloneable<GroupNormImpl> {
 public:
  GroupNormImpl(int64_t num_groups, int64_t num_channels);
  explicit GroupNormImpl(const GroupNormOptions& opts);
  void reset() override;
  /// Reset weight to 1 and bias to 0.
  void reset_parameters();
  Tensor forward(const Tensor& input);
  void pretty_print(std::ostream& os) const override;

  GroupNormOptions options;
  /// [num_channels]; undefined unless affine.
  Tensor weight, bias;
};
AMBIT_MODULE(GroupNorm);

/// Options of LocalResponseNorm; its formula has alpha, beta and k.
class LocalResponseNormOptions : public Options<LocalResponseNormOptions> {
 public:
  LocalResponseNormOptions(int64_t size) : size_(size) {}

  /// Number of neighbouring channels in the mean.
  AMBIT_OPTION(LocalResponseNormOptions, int64_t, size);
  /// Factor of the mean square.
  AMBIT_OPTION(LocalResponseNormOptions, double, alpha) = 1e-4;
  /// Exponent of the divisor.
  AMBIT_OPTION(LocalResponseNormOptions, double, beta) = 0.75;
  /// Added to the mean square.
  AMBIT_OPTION(LocalResponseNormOptions, double, k) = 1;
};

/// y = x / (k + alpha mean of x^2 over `size` channels around it)^beta, x [N,C,...]; see
/// local_response_norm().
class AMBIT_API LocalResponseNormImpl : public Cloneable<LocalResponseNormImpl> {
 public:
  explicit LocalResponseNormImpl(const LocalResponseNormOptions& opts);
  void reset() override;
  Tensor forward(const Tensor& input);
  void pretty_print(std::ostream& os) const override;

  LocalResponseNormOptions options;
};
AMBIT_MODULE(LocalResponseNorm);

/// Options of RMSNorm.
class RMSNormOptions : public Options<RMSNormOptions> {
 public:
  RMSNormOptions(std::vector<int64_t> normalized_shape)
      : normalized_shape_(std::move(normalized_shape)) {}
  RMSNormOptions(int64_t last) : normalized_shape_{last} {}

  /// Sizes of the last dims, which are normalised together.
  AMBIT_OPTION(RMSNormOptions, std::vector<int64_t>, normalized_shape);
  /// Added to the mean square. Default: the epsilon of the input's dtype.
  AMBIT_OPTION(RMSNormOptions, std::optional<double>, eps);
  /// Learn a weight for each element.
  AMBIT_OPTION(RMSNormOptions, bool, elementwise_affine) = true;
};

/// rms_norm(): x [..., normalized_shape] -> the same shape; weight has normalized_shape and is
/// initialised to 1. Errors: Error for an empty normalized_shape; of forward those of rms_norm().
/// Source: torch.nn.RMSNorm of PyTorch 2.
class AMBIT_API RMSNormImpl : public Cloneable<RMSNormImpl> {
 public:
  RMSNormImpl(std::vector<int64_t> normalized_shape);
  explicit RMSNormImpl(const RMSNormOptions& opts);
  void reset() override;
  /// Reset weight to 1.
  void reset_parameters();
  Tensor forward(const Tensor& input);
  void pretty_print(std::ostream& os) const override;

  RMSNormOptions options;
  /// [normalized_shape]; undefined unless elementwise_affine.
  Tensor weight;
};
AMBIT_MODULE(RMSNorm);

/// Options of CrossMapLRN2d; its formula has alpha, beta and k.
class CrossMapLRN2dOptions : public Options<CrossMapLRN2dOptions> {
 public:
  CrossMapLRN2dOptions(int64_t size) : size_(size) {}

  /// Number of neighbouring channels in the sum.
  AMBIT_OPTION(CrossMapLRN2dOptions, int64_t, size);
  /// Factor of the sum, which is divided by size.
  AMBIT_OPTION(CrossMapLRN2dOptions, double, alpha) = 1e-4;
  /// Exponent of the divisor.
  AMBIT_OPTION(CrossMapLRN2dOptions, double, beta) = 0.75;
  /// Added to the sum.
  AMBIT_OPTION(CrossMapLRN2dOptions, int64_t, k) = 1;
};

/// x (k + alpha / size sum of x^2 over channels around it)^-beta, x [N,C,H,W], as in Torch 7: the
/// sum covers p - 1 channels on either side, p = (size - 1) / 2 + 1, and for channels >= p also
/// channel 0, which Torch 7's running sum never drops. The gradient is that of this formula;
/// libtorch's is not. Errors: Error for size < 1; of forward ShapeError, DTypeError.
class AMBIT_API CrossMapLRN2dImpl : public Cloneable<CrossMapLRN2dImpl> {
 public:
  CrossMapLRN2dImpl(int64_t size);
  explicit CrossMapLRN2dImpl(const CrossMapLRN2dOptions& opts);
  void reset() override;
  Tensor forward(const Tensor& input);
  void pretty_print(std::ostream& os) const override;

  CrossMapLRN2dOptions options;
};
AMBIT_MODULE(CrossMapLRN2d);

/// Options of InstanceNorm1d-3d.
class InstanceNormOptions : public Options<InstanceNormOptions> {
 public:
  InstanceNormOptions(int64_t num_features) : num_features_(num_features) {}

  /// Number of channels, C.
  AMBIT_OPTION(InstanceNormOptions, int64_t, num_features);
  /// Added to the variance.
  AMBIT_OPTION(InstanceNormOptions, double, eps) = 1e-5;
  /// Weight of the new batch in the running statistics.
  AMBIT_OPTION(InstanceNormOptions, double, momentum) = 0.1;
  /// Learn a weight and a bias for each channel.
  AMBIT_OPTION(InstanceNormOptions, bool, affine) = false;
  /// Keep running statistics in training and use them in evaluation.
  AMBIT_OPTION(InstanceNormOptions, bool, track_running_stats) = false;
};
using InstanceNorm1dOptions = InstanceNormOptions;
using InstanceNorm2dOptions = InstanceNormOptions;
using InstanceNorm3dOptions = InstanceNormOptions;

namespace detail {

/// Base of InstanceNorm1d-3d: instance_norm() of x [N, num_features, ...] with `dims` dims after
/// the features, or of one sample without N.
template <class Derived, int64_t dims>
class AMBIT_API InstanceNormImplBase : public Cloneable<Derived> {
 public:
  explicit InstanceNormImplBase(const InstanceNormOptions& opts);
  void reset() override;
  Tensor forward(const Tensor& input);
  void pretty_print(std::ostream& os) const override;

  InstanceNormOptions options;
  Tensor weight, bias;               ///< [C], undefined unless affine
  Tensor running_mean, running_var;  ///< [C], undefined unless track_running_stats
  Tensor num_batches_tracked;        ///< number of batches in training, int64 []; or undefined
};

}  // namespace detail

/// instance_norm(): x [N,C,L] or [C,L] -> the same shape. Errors: Error for num_features < 1; of
/// forward ShapeError.
class AMBIT_API InstanceNorm1dImpl : public detail::InstanceNormImplBase<InstanceNorm1dImpl, 1> {
 public:
  explicit InstanceNorm1dImpl(const InstanceNormOptions& opts);
};
AMBIT_MODULE(InstanceNorm1d);

/// instance_norm(): x [N,C,H,W] or [C,H,W] -> the same shape. Errors: Error for num_features < 1;
/// of forward ShapeError.
class AMBIT_API InstanceNorm2dImpl : public detail::InstanceNormImplBase<InstanceNorm2dImpl, 2> {
 public:
  explicit InstanceNorm2dImpl(const InstanceNormOptions& opts);
};
AMBIT_MODULE(InstanceNorm2d);

/// instance_norm(): x [N,C,D,H,W] or [C,D,H,W] -> the same shape. Errors: Error for num_features <
/// 1; of forward ShapeError.
class AMBIT_API InstanceNorm3dImpl : public detail::InstanceNormImplBase<InstanceNorm3dImpl, 3> {
 public:
  explicit InstanceNorm3dImpl(const InstanceNormOptions& opts);
};
AMBIT_MODULE(InstanceNorm3d);

}  // namespace ambit::nn
