// nn::functional: overloads with libtorch's option classes, which are those of the modules:
// `F::elu(x, F::ELUFuncOptions().alpha(0.42))`.
#pragma once

#include <ambit/nn/activation.h>
#include <ambit/nn/distance.h>
#include <ambit/nn/functional/activation.h>
#include <ambit/nn/functional/loss.h>
#include <ambit/nn/functional/padding.h>
#include <ambit/nn/label_loss.h>
#include <ambit/nn/normalization.h>
#include <ambit/nn/padding.h>
#include <ambit/nn/pair_loss.h>
#include <ambit/ops/elementwise.h>
#include <ambit/ops/loss.h>
#include <ambit/ops/norm.h>
#include <ambit/ops/out.h>

#include <optional>
#include <vector>

namespace ambit::nn::functional {

using ambit::ctc_loss;
using ambit::layer_norm;
using ambit::rms_norm;

using ELUFuncOptions = ELUOptions;
inline Tensor elu(const Tensor& input, const ELUFuncOptions& options) {
  return elu(input, options.alpha(), options.inplace());
}
using SELUFuncOptions = SELUOptions;
inline Tensor selu(const Tensor& input, const SELUFuncOptions& options) {
  return selu(input, options.inplace());
}
using CELUFuncOptions = CELUOptions;
inline Tensor celu(const Tensor& input, const CELUFuncOptions& options) {
  return celu(input, options.alpha(), options.inplace());
}
using LeakyReLUFuncOptions = LeakyReLUOptions;
inline Tensor leaky_relu(const Tensor& input, const LeakyReLUFuncOptions& options) {
  return leaky_relu(input, options.negative_slope(), options.inplace());
}
using ReLU6FuncOptions = ReLU6Options;
inline Tensor relu6(const Tensor& input, const ReLU6FuncOptions& options) {
  return relu6(input, options.inplace());
}
using HardtanhFuncOptions = HardtanhOptions;
inline Tensor hardtanh(const Tensor& input, const HardtanhFuncOptions& options) {
  return hardtanh(input, options.min_val(), options.max_val(), options.inplace());
}
using SoftplusFuncOptions = SoftplusOptions;
inline Tensor softplus(const Tensor& input, const SoftplusFuncOptions& options) {
  return softplus(input, options.beta(), options.threshold());
}
using HardshrinkFuncOptions = HardshrinkOptions;
inline Tensor hardshrink(const Tensor& input, const HardshrinkFuncOptions& options) {
  return hardshrink(input, options.lambda());
}
using SoftshrinkFuncOptions = SoftshrinkOptions;
inline Tensor softshrink(const Tensor& input, const SoftshrinkFuncOptions& options) {
  return softshrink(input, options.lambda());
}
using ThresholdFuncOptions = ThresholdOptions;
inline Tensor threshold(const Tensor& input, const ThresholdFuncOptions& options) {
  return threshold(input, options.threshold(), options.value(), options.inplace());
}
using GLUFuncOptions = GLUOptions;
inline Tensor glu(const Tensor& input, const GLUFuncOptions& options) {
  return glu(input, options.dim());
}
/// Options of softmax, log_softmax and softmin.
class SoftmaxFuncOptions : public Options<SoftmaxFuncOptions> {
 public:
  SoftmaxFuncOptions(int64_t dim) : dim_(dim) {}

  /// The dim along which the outputs sum to 1; negative values count from the end.
  AMBIT_OPTION(SoftmaxFuncOptions, int64_t, dim);
  /// Convert the input to it first. Default: none, so the input's dtype is kept.
  AMBIT_OPTION(SoftmaxFuncOptions, std::optional<DType>, dtype);
};
using LogSoftmaxFuncOptions = SoftmaxFuncOptions;
using SoftminFuncOptions = SoftmaxFuncOptions;
inline Tensor softmax(const Tensor& input, const SoftmaxFuncOptions& options) {
  return ambit::softmax(input, options.dim(), options.dtype());
}
inline Tensor log_softmax(const Tensor& input, const LogSoftmaxFuncOptions& options) {
  return ambit::log_softmax(input, options.dim(), options.dtype());
}
inline Tensor softmin(const Tensor& input, const SoftminFuncOptions& options) {
  return softmin(input, options.dim(), options.dtype());
}

/// Options of rrelu.
class RReLUFuncOptions : public Options<RReLUFuncOptions> {
  /// Smallest random factor of x < 0.
  AMBIT_OPTION(RReLUFuncOptions, double, lower) = 1. / 8;
  /// Upper bound of the random factor, exclusive.
  AMBIT_OPTION(RReLUFuncOptions, double, upper) = 1. / 3;
  /// Use random factors, not the mean of the bounds.
  AMBIT_OPTION(RReLUFuncOptions, bool, training) = false;
  AMBIT_OPTION(RReLUFuncOptions, bool, inplace) = false;
};
inline Tensor rrelu(const Tensor& input, const RReLUFuncOptions& options) {
  return rrelu(input, options.lower(), options.upper(), options.training(), options.inplace());
}
/// Options of gumbel_softmax.
class GumbelSoftmaxFuncOptions : public Options<GumbelSoftmaxFuncOptions> {
  /// Temperature, positive: the smaller, the closer to one-hot samples.
  AMBIT_OPTION(GumbelSoftmaxFuncOptions, double, tau) = 1;
  /// Return one-hot samples, with the gradient of the soft ones.
  AMBIT_OPTION(GumbelSoftmaxFuncOptions, bool, hard) = false;
  /// The dim of the classes.
  AMBIT_OPTION(GumbelSoftmaxFuncOptions, int64_t, dim) = -1;
};
inline Tensor gumbel_softmax(const Tensor& input, const GumbelSoftmaxFuncOptions& options) {
  return gumbel_softmax(input, options.tau(), options.hard(), options.dim());
}
/// Options of normalize.
class NormalizeFuncOptions : public Options<NormalizeFuncOptions> {
  /// Order of the norm.
  AMBIT_OPTION(NormalizeFuncOptions, double, p) = 2;
  /// The dim along which the norms are computed.
  AMBIT_OPTION(NormalizeFuncOptions, int64_t, dim) = 1;
  /// Lower bound of the norm, so that zero vectors give 0.
  AMBIT_OPTION(NormalizeFuncOptions, double, eps) = 1e-12;
  /// If given, the result is written to this tensor. Default: none.
  AMBIT_OPTION(NormalizeFuncOptions, std::optional<Tensor>, out);
};
inline Tensor normalize(const Tensor& input, const NormalizeFuncOptions& options) {
  if (options.out()) {
    Tensor out = *options.out();
    return ambit::detail::fill_out("normalize", out, [&] {
      return normalize(input, options.p(), options.dim(), options.eps());
    });
  }
  return normalize(input, options.p(), options.dim(), options.eps());
}
using GELUFuncOptions = GELUOptions;
inline Tensor gelu(const Tensor& input, const GELUFuncOptions& options) {
  return gelu(input, options.approximate());
}
using PixelShuffleFuncOptions = PixelShuffleOptions;
inline Tensor pixel_shuffle(const Tensor& input, const PixelShuffleFuncOptions& options) {
  return pixel_shuffle(input, options.upscale_factor());
}
using PixelUnshuffleFuncOptions = PixelUnshuffleOptions;
inline Tensor pixel_unshuffle(const Tensor& input, const PixelUnshuffleFuncOptions& options) {
  return pixel_unshuffle(input, options.downscale_factor());
}

/// Options of layer_norm.
class LayerNormFuncOptions : public Options<LayerNormFuncOptions> {
 public:
  LayerNormFuncOptions(std::vector<int64_t> normalized_shape)
      : normalized_shape_(std::move(normalized_shape)) {}

  /// Sizes of the last dims, which are normalised together.
  AMBIT_OPTION(LayerNormFuncOptions, std::vector<int64_t>, normalized_shape);
  /// Factor, [normalized_shape]. Default: undefined (1).
  AMBIT_OPTION(LayerNormFuncOptions, Tensor, weight);
  /// Added to the product, [normalized_shape]. Default: undefined (0).
  AMBIT_OPTION(LayerNormFuncOptions, Tensor, bias);
  /// Added to the variance.
  AMBIT_OPTION(LayerNormFuncOptions, double, eps) = 1e-5;
};
inline Tensor layer_norm(const Tensor& input, const LayerNormFuncOptions& options) {
  return ambit::layer_norm(input, options.normalized_shape(), options.weight(), options.bias(),
                           options.eps());
}
/// Options of group_norm.
class GroupNormFuncOptions : public Options<GroupNormFuncOptions> {
 public:
  GroupNormFuncOptions(int64_t num_groups) : num_groups_(num_groups) {}

  /// Number of groups of channels that are normalised together; divides C.
  AMBIT_OPTION(GroupNormFuncOptions, int64_t, num_groups);
  /// Factor of each channel, [C]. Default: undefined (1).
  AMBIT_OPTION(GroupNormFuncOptions, Tensor, weight);
  /// Added to each channel, [C]. Default: undefined (0).
  AMBIT_OPTION(GroupNormFuncOptions, Tensor, bias);
  /// Added to the variance.
  AMBIT_OPTION(GroupNormFuncOptions, double, eps) = 1e-5;
};
inline Tensor group_norm(const Tensor& input, const GroupNormFuncOptions& options) {
  return functional::group_norm(input, options.num_groups(), options.weight(), options.bias(),
                                options.eps());
}
/// Options of instance_norm.
class InstanceNormFuncOptions : public Options<InstanceNormFuncOptions> {
  /// [C], updated if use_input_stats. Default: undefined.
  AMBIT_OPTION(InstanceNormFuncOptions, Tensor, running_mean);
  /// [C], updated if use_input_stats. Default: undefined.
  AMBIT_OPTION(InstanceNormFuncOptions, Tensor, running_var);
  /// Factor of each channel, [C]. Default: undefined (1).
  AMBIT_OPTION(InstanceNormFuncOptions, Tensor, weight);
  /// Added to each channel, [C]. Default: undefined (0).
  AMBIT_OPTION(InstanceNormFuncOptions, Tensor, bias);
  /// Normalise by the statistics of the input, not by the running ones.
  AMBIT_OPTION(InstanceNormFuncOptions, bool, use_input_stats) = true;
  /// Weight of the new batch in the running statistics.
  AMBIT_OPTION(InstanceNormFuncOptions, double, momentum) = 0.1;
  /// Added to the variance.
  AMBIT_OPTION(InstanceNormFuncOptions, double, eps) = 1e-5;
};
inline Tensor instance_norm(const Tensor& input, const InstanceNormFuncOptions& options) {
  return instance_norm(input, options.running_mean(), options.running_var(), options.weight(),
                       options.bias(), options.use_input_stats(), options.momentum(),
                       options.eps());
}
using LocalResponseNormFuncOptions = LocalResponseNormOptions;
inline Tensor local_response_norm(const Tensor& input,
                                  const LocalResponseNormFuncOptions& options) {
  return local_response_norm(input, options.size(), options.alpha(), options.beta(), options.k());
}

using L1LossFuncOptions = L1LossOptions;
inline Tensor l1_loss(const Tensor& input, const Tensor& target, const L1LossFuncOptions& options) {
  return l1_loss(input, target, options.reduction());
}
using SmoothL1LossFuncOptions = SmoothL1LossOptions;
inline Tensor smooth_l1_loss(const Tensor& input, const Tensor& target,
                             const SmoothL1LossFuncOptions& options) {
  return smooth_l1_loss(input, target, options.reduction(), options.beta());
}
/// As above, with `beta` instead of options.beta().
inline Tensor smooth_l1_loss(const Tensor& input, const Tensor& target,
                             const SmoothL1LossFuncOptions& options, double beta) {
  return smooth_l1_loss(input, target, options.reduction(), beta);
}
using HuberLossFuncOptions = HuberLossOptions;
inline Tensor huber_loss(const Tensor& input, const Tensor& target,
                         const HuberLossFuncOptions& options) {
  return huber_loss(input, target, options.reduction(), options.delta());
}
using HingeEmbeddingLossFuncOptions = HingeEmbeddingLossOptions;
inline Tensor hinge_embedding_loss(const Tensor& input, const Tensor& target,
                                   const HingeEmbeddingLossFuncOptions& options) {
  return hinge_embedding_loss(input, target, options.margin(), options.reduction());
}
using MarginRankingLossFuncOptions = MarginRankingLossOptions;
inline Tensor margin_ranking_loss(const Tensor& input1, const Tensor& input2, const Tensor& target,
                                  const MarginRankingLossFuncOptions& options) {
  return margin_ranking_loss(input1, input2, target, options.margin(), options.reduction());
}
using CosineEmbeddingLossFuncOptions = CosineEmbeddingLossOptions;
inline Tensor cosine_embedding_loss(const Tensor& input1, const Tensor& input2,
                                    const Tensor& target,
                                    const CosineEmbeddingLossFuncOptions& options) {
  return cosine_embedding_loss(input1, input2, target, options.margin(), options.reduction());
}
using SoftMarginLossFuncOptions = SoftMarginLossOptions;
inline Tensor soft_margin_loss(const Tensor& input, const Tensor& target,
                               const SoftMarginLossFuncOptions& options) {
  return soft_margin_loss(input, target, options.reduction());
}
using MultilabelMarginLossFuncOptions = MultiLabelMarginLossOptions;
inline Tensor multilabel_margin_loss(const Tensor& input, const Tensor& target,
                                     const MultilabelMarginLossFuncOptions& options) {
  return multilabel_margin_loss(input, target, options.reduction());
}
using PoissonNLLLossFuncOptions = PoissonNLLLossOptions;
inline Tensor poisson_nll_loss(const Tensor& input, const Tensor& target,
                               const PoissonNLLLossFuncOptions& options) {
  return poisson_nll_loss(input, target, options.log_input(), options.full(), options.eps(),
                          options.reduction());
}
using TripletMarginLossFuncOptions = TripletMarginLossOptions;
inline Tensor triplet_margin_loss(const Tensor& anchor, const Tensor& positive,
                                  const Tensor& negative,
                                  const TripletMarginLossFuncOptions& options) {
  return triplet_margin_loss(anchor, positive, negative, options.margin(), options.p(),
                             options.eps(), options.swap(), options.reduction());
}
using TripletMarginWithDistanceLossFuncOptions = TripletMarginWithDistanceLossOptions;
inline Tensor triplet_margin_with_distance_loss(
    const Tensor& anchor, const Tensor& positive, const Tensor& negative,
    const TripletMarginWithDistanceLossFuncOptions& options) {
  return triplet_margin_with_distance_loss(anchor, positive, negative, options.distance_function(),
                                           options.margin(), options.swap(), options.reduction());
}
using BinaryCrossEntropyFuncOptions = BCELossOptions;
inline Tensor binary_cross_entropy(const Tensor& input, const Tensor& target,
                                   const BinaryCrossEntropyFuncOptions& options) {
  return binary_cross_entropy(input, target, options.weight(), options.reduction());
}
using BinaryCrossEntropyWithLogitsFuncOptions = BCEWithLogitsLossOptions;
inline Tensor binary_cross_entropy_with_logits(
    const Tensor& input, const Tensor& target,
    const BinaryCrossEntropyWithLogitsFuncOptions& options) {
  return binary_cross_entropy_with_logits(input, target, options.weight(), options.reduction(),
                                          options.pos_weight());
}
using MultilabelSoftMarginLossFuncOptions = MultiLabelSoftMarginLossOptions;
inline Tensor multilabel_soft_margin_loss(const Tensor& input, const Tensor& target,
                                          const MultilabelSoftMarginLossFuncOptions& options) {
  return multilabel_soft_margin_loss(input, target, options.weight(), options.reduction());
}
using MultiMarginLossFuncOptions = MultiMarginLossOptions;
inline Tensor multi_margin_loss(const Tensor& input, const Tensor& target,
                                const MultiMarginLossFuncOptions& options) {
  return multi_margin_loss(input, target, options.p(), options.margin(), options.weight(),
                           options.reduction());
}
using KLDivFuncOptions = KLDivLossOptions;
inline Tensor kl_div(const Tensor& input, const Tensor& target, const KLDivFuncOptions& options) {
  const Tensor loss = kl_div(input, target, options.reduction(), options.log_target());
  if (!options.batch_mean() || input.dim() == 0) return loss;
  return loss / static_cast<double>(input.size(0));
}
using CosineSimilarityFuncOptions = CosineSimilarityOptions;
inline Tensor cosine_similarity(const Tensor& x1, const Tensor& x2,
                                const CosineSimilarityFuncOptions& options) {
  return functional::cosine_similarity(x1, x2, options.dim(), options.eps());
}
using PairwiseDistanceFuncOptions = PairwiseDistanceOptions;
inline Tensor pairwise_distance(const Tensor& x1, const Tensor& x2,
                                const PairwiseDistanceFuncOptions& options) {
  return functional::pairwise_distance(x1, x2, options.p(), options.eps(), options.keepdim());
}

using CTCLossFuncOptions = CTCLossOptions;
inline Tensor ctc_loss(const Tensor& log_probs, const Tensor& targets, const Tensor& input_lengths,
                       const Tensor& target_lengths, const CTCLossFuncOptions& options) {
  return ctc_loss(log_probs, targets, input_lengths, target_lengths, options.blank(),
                  options.reduction(), options.zero_infinity());
}

}  // namespace ambit::nn::functional
