// nn::functional: the layers as functions. `namespace F = ambit::nn::functional;`
// Functions without options are the ops themselves; the others accept the option classes of the
// layers.
#pragma once

#include <ambit/nn/activation.h>
#include <ambit/nn/dropout.h>
#include <ambit/nn/functional/activation.h>
#include <ambit/nn/functional/aten.h>
#include <ambit/nn/functional/attention.h>
#include <ambit/nn/functional/conv.h>
#include <ambit/nn/functional/embedding.h>
#include <ambit/nn/functional/interpolate.h>
#include <ambit/nn/functional/loss.h>
#include <ambit/nn/functional/options.h>
#include <ambit/nn/functional/padding.h>
#include <ambit/nn/functional/pooling.h>
#include <ambit/nn/functional/vision.h>
#include <ambit/nn/loss.h>
#include <ambit/nn/normalization.h>
#include <ambit/nn/options.h>
#include <ambit/nn/pooling.h>
#include <ambit/ops/elementwise.h>
#include <ambit/ops/index.h>
#include <ambit/ops/loss.h>
#include <ambit/ops/matmul.h>
#include <ambit/ops/norm.h>
#include <ambit/ops/pool.h>
#include <ambit/ops/products.h>
#include <ambit/ops/random.h>

#include <optional>
#include <tuple>

namespace ambit::nn::functional {

using ambit::cross_entropy;
using ambit::gelu;
using ambit::linear;
using ambit::log_softmax;
using ambit::mse_loss;
using ambit::nll_loss;
using ambit::one_hot;
using ambit::pdist;
using ambit::relu;
using ambit::sigmoid;
using ambit::softmax;
using ambit::tanh;

using CrossEntropyFuncOptions = CrossEntropyLossOptions;
using MSELossFuncOptions = MSELossOptions;
using NLLLossFuncOptions = NLLLossOptions;
using ReLUFuncOptions = ReLUOptions;

/// Return max(input, 0), in place if options.inplace().
inline Tensor relu(const Tensor& input, const ReLUOptions& options) {
  return options.inplace() ? relu_(input) : relu(input);
}

/// Options of dropout, dropout2d and dropout3d.
class DropoutFuncOptions : public Options<DropoutFuncOptions> {
 public:
  /// Probability of zeroing an element or channel, in [0, 1]. Default: 0.5.
  DropoutFuncOptions& p(double v) { return set(p_, v); }
  /// If false, return the input. Default: true.
  DropoutFuncOptions& training(bool on) { return set(training_, on); }
  /// In training overwrite the input and return it. Default: false.
  DropoutFuncOptions& inplace(bool on) { return set(inplace_, on); }
  double p() const { return p_; }
  bool training() const { return training_; }
  bool inplace() const { return inplace_; }

 private:
  double p_ = 0.5;
  bool training_ = true, inplace_ = false;
};
/// ambit::dropout. With `inplace`, training overwrites input and evaluation returns it unchanged.
/// Errors: DTypeError, Error for p outside [0, 1]; with `inplace` AutogradError for a leaf that
/// requires grad. Gradient: input.
AMBIT_API Tensor dropout(const Tensor& input, double p = 0.5, bool training = true,
                         bool inplace = false);
inline Tensor dropout(const Tensor& input, const DropoutFuncOptions& options) {
  return dropout(input, options.p(), options.training(), options.inplace());
}

/// Drop whole channels of x [N,C,H,W] or [C,H,W] (2d), [N,C,D,H,W] or [C,D,H,W] (3d); otherwise as
/// dropout. Errors: also ShapeError.
AMBIT_API Tensor dropout2d(const Tensor& input, double p = 0.5, bool training = true,
                           bool inplace = false);
AMBIT_API Tensor dropout3d(const Tensor& input, double p = 0.5, bool training = true,
                           bool inplace = false);
/// Dropout that keeps mean 0 and variance 1: dropped elements become SELU's lowest output, then an
/// affine map is applied to all. Any shape; feature_alpha_dropout: x [N,C,...]. Errors and
/// gradient: as dropout2d. Source: Klambauer et al. 2017, arXiv:1706.02515.
AMBIT_API Tensor alpha_dropout(const Tensor& input, double p = 0.5, bool training = false,
                               bool inplace = false);
/// alpha_dropout() of whole channels.
AMBIT_API Tensor feature_alpha_dropout(const Tensor& input, double p = 0.5, bool training = false,
                                       bool inplace = false);
using Dropout2dFuncOptions = DropoutFuncOptions;
inline Tensor dropout2d(const Tensor& input, const DropoutFuncOptions& options) {
  return dropout2d(input, options.p(), options.training(), options.inplace());
}
using Dropout3dFuncOptions = DropoutFuncOptions;
inline Tensor dropout3d(const Tensor& input, const DropoutFuncOptions& options) {
  return dropout3d(input, options.p(), options.training(), options.inplace());
}
/// Options of alpha_dropout and feature_alpha_dropout.
class AlphaDropoutFuncOptions : public Options<AlphaDropoutFuncOptions> {
  /// Probability of dropping an element or channel, in [0, 1].
  AMBIT_OPTION(AlphaDropoutFuncOptions, double, p) = 0.5;
  /// If false, return the input.
  AMBIT_OPTION(AlphaDropoutFuncOptions, bool, training) = false;
  AMBIT_OPTION(AlphaDropoutFuncOptions, bool, inplace) = false;
};
using FeatureAlphaDropoutFuncOptions = AlphaDropoutFuncOptions;
inline Tensor alpha_dropout(const Tensor& input, const AlphaDropoutFuncOptions& options) {
  return alpha_dropout(input, options.p(), options.training(), options.inplace());
}
inline Tensor feature_alpha_dropout(const Tensor& input, const AlphaDropoutFuncOptions& options) {
  return feature_alpha_dropout(input, options.p(), options.training(), options.inplace());
}

/// Options of batch_norm.
class BatchNormFuncOptions : public Options<BatchNormFuncOptions> {
 public:
  /// Factor of each channel, [C]. Default: undefined (1).
  BatchNormFuncOptions& weight(Tensor v) { return set(weight_, std::move(v)); }
  /// Added to each channel, [C]. Default: undefined (0).
  BatchNormFuncOptions& bias(Tensor v) { return set(bias_, std::move(v)); }
  /// Normalise by the statistics of the batch and update the running ones. Default: false.
  BatchNormFuncOptions& training(bool on) { return set(params_.training, on); }
  /// Weight of the new batch in the running statistics. Default: 0.1.
  BatchNormFuncOptions& momentum(double v) { return set(params_.momentum, v); }
  /// Added to the variance. Default: 1e-5.
  BatchNormFuncOptions& eps(double v) { return set(params_.eps, v); }
  const Tensor& weight() const { return weight_; }
  const Tensor& bias() const { return bias_; }
  /// Return training, momentum and eps, for the op.
  const BatchNormParams& params() const { return params_; }

 private:
  Tensor weight_, bias_;
  BatchNormParams params_{.training = false};
};
/// ambit::batch_norm with running statistics [C], which training updates. Errors: also ShapeError
/// for one value per channel in training.
AMBIT_API Tensor batch_norm(const Tensor& input, const Tensor& running_mean,
                            const Tensor& running_var, const BatchNormFuncOptions& options = {});

/// y[..., k] = x1^T weight[k] x2 + bias[k]: x1 [..., I], x2 [..., J] with the same leading sizes,
/// weight [K,I,J], bias [K] or undefined -> [..., K]. Errors: ShapeError, DTypeError,
/// DeviceMismatchError. Gradient: all.
AMBIT_API Tensor bilinear(const Tensor& input1, const Tensor& input2, const Tensor& weight,
                          const Tensor& bias = {});

/// ambit::cross_entropy: logits [N,C,...]; targets are class indices or probabilities.
inline Tensor cross_entropy(const Tensor& input, const Tensor& target,
                            const CrossEntropyFuncOptions& options) {
  return cross_entropy(input, target, options.weight(), options.reduction(), options.ignore_index(),
                       options.label_smoothing());
}
/// ambit::nll_loss: log-probabilities [N,C,...] and class indices.
inline Tensor nll_loss(const Tensor& input, const Tensor& target,
                       const NLLLossFuncOptions& options) {
  return nll_loss(input, target, options.weight(), options.reduction(), options.ignore_index());
}
/// ambit::mse_loss: input and target have the same shape.
inline Tensor mse_loss(const Tensor& input, const Tensor& target,
                       const MSELossFuncOptions& options) {
  return mse_loss(input, target, options.reduction());
}

}  // namespace ambit::nn::functional

namespace ambit {

// Also available outside nn::functional, as the functions of functional/aten.h are.
using nn::functional::alpha_dropout;
using nn::functional::bilinear;
using nn::functional::feature_alpha_dropout;
inline Tensor alpha_dropout_(const Tensor& self, double p, bool train) {
  return alpha_dropout(self, p, train, true);
}
inline Tensor feature_alpha_dropout_(const Tensor& self, double p, bool train) {
  return feature_alpha_dropout(self, p, train, true);
}

}  // namespace ambit
