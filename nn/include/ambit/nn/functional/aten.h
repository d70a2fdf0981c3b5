// Layer functions that libtorch also has outside of nn::functional, as `torch::silu(x)`: the same
// functions, with overloads where libtorch's argument order or count differs. Errors and gradients:
// those of the functions that they call.
#pragma once

#include <ambit/nn/functional/activation.h>
#include <ambit/nn/functional/embedding.h>
#include <ambit/nn/functional/loss.h>
#include <ambit/nn/functional/options.h>
#include <ambit/nn/functional/padding.h>
#include <ambit/nn/functional/recurrent.h>
#include <ambit/nn/normalization.h>
#include <ambit/nn/utils/rnn.h>
#include <ambit/ops/conv.h>
#include <ambit/ops/elementwise.h>
#include <ambit/ops/images.h>
#include <ambit/ops/linalg.h>
#include <ambit/ops/loss.h>
#include <ambit/ops/matmul.h>
#include <ambit/ops/norm.h>
#include <ambit/ops/random.h>
#include <ambit/ops/reduce.h>
#include <ambit/ops/shape.h>

#include <concepts>
#include <optional>
#include <string_view>
#include <tuple>
#include <vector>

namespace ambit {

using nn::utils::rnn::pad_sequence;

using nn::functional::cosine_embedding_loss;
using nn::functional::cosine_similarity;
using nn::functional::hinge_embedding_loss;
using nn::functional::huber_loss;
using nn::functional::kl_div;
using nn::functional::l1_loss;
using nn::functional::margin_ranking_loss;
using nn::functional::multi_margin_loss;
using nn::functional::multilabel_margin_loss;
using nn::functional::pairwise_distance;
using nn::functional::pixel_shuffle;
using nn::functional::pixel_unshuffle;
using nn::functional::poisson_nll_loss;
using nn::functional::smooth_l1_loss;
using nn::functional::soft_margin_loss;
using nn::functional::triplet_margin_loss;

/// nn::functional::elu with scale and input_scale: scale x where x > 0, else scale alpha
/// (e^(input_scale x) - 1).
inline Tensor elu(const Tensor& self, double alpha = 1, double scale = 1, double input_scale = 1) {
  if (scale == 1 && input_scale == 1) return nn::functional::elu(self, alpha);
  const Tensor negative = nn::functional::elu(self.clamp_max(0) * input_scale, alpha);
  return (relu(self) + negative) * scale;
}
/// Same as nn::functional::logsigmoid.
inline Tensor log_sigmoid(const Tensor& self) { return nn::functional::logsigmoid(self); }

// In-place variants; they return self.
inline Tensor elu_(const Tensor& self, double alpha = 1) {
  return nn::functional::elu(self, alpha, true);
}
inline Tensor celu_(const Tensor& self, double alpha = 1) { return celu(self, alpha, true); }
inline Tensor selu_(const Tensor& self) { return selu(self, true); }
inline Tensor relu6_(const Tensor& self) { return relu6(self, true); }
inline Tensor hardtanh_(const Tensor& self, double min_val = -1, double max_val = 1) {
  return hardtanh(self, min_val, max_val, true);
}
inline Tensor leaky_relu_(const Tensor& self, double negative_slope = 0.01) {
  return leaky_relu(self, negative_slope, true);
}
inline Tensor rrelu_(const Tensor& self, double lower = 1. / 8, double upper = 1. / 3,
                     bool training = false) {
  return rrelu(self, lower, upper, training, true);
}
inline Tensor threshold_(const Tensor& self, double limit, double value) {
  return threshold(self, limit, value, true);
}
inline Tensor hardsigmoid_(const Tensor& self) { return hardsigmoid(self, true); }
inline Tensor hardswish_(const Tensor& self) { return hardswish(self, true); }
AMBIT_API const Tensor& silu_(const Tensor& self);
AMBIT_API const Tensor& mish_(const Tensor& self);
AMBIT_API const Tensor& gelu_(const Tensor& self, std::string_view approximate = "none");
/// dropout() of whole channels of input [N,C,...]. Errors: ShapeError for fewer than 2 dims;
/// otherwise as dropout. Gradient: input.
AMBIT_API Tensor feature_dropout(const Tensor& input, double p, bool train);
AMBIT_API Tensor feature_dropout_(const Tensor& self, double p, bool train);

/// nn::functional::binary_cross_entropy, also for a target whose shape differs by dims of size 1. A
/// template, so that overload resolution prefers nn::functional's if both are in scope.
template <std::same_as<Tensor> T>
Tensor binary_cross_entropy(const T& self, const Tensor& target, const Tensor& weight = {},
                            Reduction reduction = Reduction::mean) {
  const bool alike =
      self.defined() && target.defined() && self.squeeze().sizes() == target.squeeze().sizes();
  return nn::functional::binary_cross_entropy(self, alike ? target.reshape(self.sizes()) : target,
                                              weight, reduction);
}
/// nn::functional::binary_cross_entropy_with_logits, with pos_weight before the reduction.
inline Tensor binary_cross_entropy_with_logits(const Tensor& self, const Tensor& target,
                                               const Tensor& weight = {},
                                               const Tensor& pos_weight = {},
                                               Reduction reduction = Reduction::mean) {
  return nn::functional::binary_cross_entropy_with_logits(self, target, weight, reduction,
                                                          pos_weight);
}
/// Same as cross_entropy().
inline Tensor cross_entropy_loss(const Tensor& self, const Tensor& target,
                                 const Tensor& weight = {}, Reduction reduction = Reduction::mean,
                                 int64_t ignore_index = -100, double label_smoothing = 0) {
  return cross_entropy(self, target, weight, reduction, ignore_index, label_smoothing);
}

/// batch_norm() with separate arguments; cudnn_enabled is ignored.
inline Tensor batch_norm(const Tensor& input, const std::optional<Tensor>& weight,
                         const std::optional<Tensor>& bias,
                         const std::optional<Tensor>& running_mean,
                         const std::optional<Tensor>& running_var, bool training, double momentum,
                         double eps, [[maybe_unused]] bool cudnn_enabled) {
  return batch_norm(input, weight.value_or(Tensor()), bias.value_or(Tensor()),
                    running_mean.value_or(Tensor()), running_var.value_or(Tensor()),
                    BatchNormParams{.training = training, .momentum = momentum, .eps = eps});
}
/// nn::functional::instance_norm with the statistics after weight and bias; a single value per
/// channel is accepted and gives 0.
AMBIT_API Tensor instance_norm(const Tensor& input, const std::optional<Tensor>& weight,
                               const std::optional<Tensor>& bias,
                               const std::optional<Tensor>& running_mean,
                               const std::optional<Tensor>& running_var, bool use_input_stats,
                               double momentum, double eps, bool cudnn_enabled);
/// layer_norm(); cudnn_enable is ignored.
inline Tensor layer_norm(const Tensor& input, IntArrayRef normalized_shape,
                         const std::optional<Tensor>& weight, const std::optional<Tensor>& bias,
                         double eps, [[maybe_unused]] bool cudnn_enable) {
  return layer_norm(input, normalized_shape, weight.value_or(Tensor()), bias.value_or(Tensor()),
                    eps);
}
/// nn::functional::group_norm; cudnn_enabled is ignored.
inline Tensor group_norm(const Tensor& input, int64_t num_groups,
                         const std::optional<Tensor>& weight, const std::optional<Tensor>& bias,
                         double eps, [[maybe_unused]] bool cudnn_enabled) {
  return nn::functional::group_norm(input, num_groups, weight.value_or(Tensor()),
                                    bias.value_or(Tensor()), eps);
}

/// nn::functional::pad. mode: "constant", "reflect", "replicate" or "circular". Errors: also Error
/// for any other mode.
AMBIT_API Tensor pad(const Tensor& self, IntArrayRef pad, std::string_view mode = "constant",
                     std::optional<double> value = {});
/// pad() with a constant.
AMBIT_API Tensor constant_pad_nd(const Tensor& self, IntArrayRef pad, const Scalar& value = 0);
/// pad() of the last one, two or three dims with mode reflect. Errors: also ShapeError for a
/// different length of padding.
AMBIT_API Tensor reflection_pad1d(const Tensor& self, IntArrayRef padding);
AMBIT_API Tensor reflection_pad2d(const Tensor& self, IntArrayRef padding);
AMBIT_API Tensor reflection_pad3d(const Tensor& self, IntArrayRef padding);
/// pad() of the last one, two or three dims with mode replicate. Errors: also ShapeError for a
/// different length of padding.
AMBIT_API Tensor replication_pad1d(const Tensor& self, IntArrayRef padding);
AMBIT_API Tensor replication_pad2d(const Tensor& self, IntArrayRef padding);
AMBIT_API Tensor replication_pad3d(const Tensor& self, IntArrayRef padding);
/// Interleave the channels of `groups` equal groups of x [N, C, ...]: the first of each group, then
/// the second, ... Errors: ShapeError. Gradient: self. Source: Zhang et al. 2017, arXiv:1707.01083.
AMBIT_API Tensor channel_shuffle(const Tensor& self, int64_t groups);

/// nn::functional::embedding with separate arguments; padding_idx -1: none. `sparse` is ignored:
/// there are no sparse tensors.
inline Tensor embedding(const Tensor& weight, const Tensor& indices, int64_t padding_idx,
                        bool scale_grad_by_freq, bool sparse = false) {
  nn::functional::EmbeddingFuncOptions options;
  options.scale_grad_by_freq(scale_grad_by_freq).sparse(sparse);
  if (padding_idx >= 0) options.padding_idx(padding_idx);
  return nn::functional::embedding(indices, weight, options);
}
/// nn::functional::embedding_bag of indices [n] and offsets [B], the start of each bag. mode: 0
/// sum, 1 mean, 2 maximum. The second to fourth results, which only libtorch's backward uses, are
/// empty.
AMBIT_API std::tuple<Tensor, Tensor, Tensor, Tensor> embedding_bag(
    const Tensor& weight, const Tensor& indices, const Tensor& offsets,
    bool scale_grad_by_freq = false, int64_t mode = 0, bool sparse = false,
    const Tensor& per_sample_weights = {}, bool include_last_offset = false,
    std::optional<int64_t> padding_idx = {});
/// Scale those rows of self [V,D] that occur in indices and have a norm_type-norm above max_norm to
/// that norm, in place. Errors: IndexError, ShapeError, DTypeError. No gradient.
AMBIT_API const Tensor& embedding_renorm_(const Tensor& self, const Tensor& indices,
                                          double max_norm, double norm_type);
/// grid_sampler() of images [N,C,H,W] and volumes [N,C,D,H,W]. Errors: also ShapeError for other
/// shapes.
AMBIT_API Tensor grid_sampler_2d(const Tensor& input, const Tensor& grid,
                                 int64_t interpolation_mode, int64_t padding_mode,
                                 bool align_corners);
AMBIT_API Tensor grid_sampler_3d(const Tensor& input, const Tensor& grid,
                                 int64_t interpolation_mode, int64_t padding_mode,
                                 bool align_corners);
/// conv1d() in time-first layout: self [T,B,I], weight [K,I,O], bias [O] -> [T',B,O].
AMBIT_API Tensor conv_tbc(const Tensor& self, const Tensor& weight, const Tensor& bias,
                          int64_t pad = 0);

/// Scale factors of an image, one per spatial dim, or none.
class ScaleFactors {
 public:
  // Constructors with numbers, not an initializer list, which would be ambiguous for {}.
  /// Factors of height and width; of depth, height and width; of each dim; or none.
  ScaleFactors(double h, double w) : factors_({h, w}) {}
  ScaleFactors(double d, double h, double w) : factors_({d, h, w}) {}
  ScaleFactors(std::vector<double> factors) : factors_(std::move(factors)) {}
  ScaleFactors(const std::optional<ArrayRef<double>>& factors) {
    if (factors) factors_ = factors->vec();
  }
  /// Return the factors.
  const std::optional<std::vector<double>>& get() const { return factors_; }

 private:
  std::optional<std::vector<double>> factors_;
};
/// Upsampling functions of ops/images.h, given either the output size or scale factors. Errors:
/// also Error for both or neither; ShapeError if the number of factors is not that of the spatial
/// dims.
AMBIT_API Tensor upsample_nearest1d(const Tensor& input, OptionalIntArrayRef output_size,
                                    const ScaleFactors& scale_factors);
AMBIT_API Tensor upsample_nearest2d(const Tensor& input, OptionalIntArrayRef output_size,
                                    const ScaleFactors& scale_factors);
AMBIT_API Tensor upsample_nearest3d(const Tensor& input, OptionalIntArrayRef output_size,
                                    const ScaleFactors& scale_factors);
/// As upsample_nearest1d(), with linear interpolation: [N,C,L].
AMBIT_API Tensor upsample_linear1d(const Tensor& input, OptionalIntArrayRef output_size,
                                   bool align_corners, const ScaleFactors& scale_factors);
/// As upsample_nearest2d(), with linear interpolation: [N,C,H,W].
AMBIT_API Tensor upsample_bilinear2d(const Tensor& input, OptionalIntArrayRef output_size,
                                     bool align_corners, const ScaleFactors& scale_factors);
/// As upsample_nearest3d(), with linear interpolation: [N,C,D,H,W].
AMBIT_API Tensor upsample_trilinear3d(const Tensor& input, OptionalIntArrayRef output_size,
                                      bool align_corners, const ScaleFactors& scale_factors);
/// As upsample_nearest2d(), with bicubic interpolation: [N,C,H,W].
AMBIT_API Tensor upsample_bicubic2d(const Tensor& input, OptionalIntArrayRef output_size,
                                    bool align_corners, const ScaleFactors& scale_factors);

/// Return the square root of the sum of squares over `dim`, or over all dims.
inline Tensor frobenius_norm(const Tensor& self, IntArrayRef dim = {}, bool keepdim = false) {
  return linalg_vector_norm(self, 2, dim, keepdim);
}
/// Return linalg_matrix_norm() with "nuc", of the last two dims by default.
inline Tensor nuclear_norm(const Tensor& self, bool keepdim = false) {
  return linalg_matrix_norm(self, "nuc", {-2, -1}, keepdim);
}
inline Tensor nuclear_norm(const Tensor& self, IntArrayRef dim, bool keepdim = false) {
  return linalg_matrix_norm(self, "nuc", dim, keepdim);
}

/// Same as self.split(split_sizes), along dim 0.
inline std::vector<Tensor> split(const Tensor& self, IntArrayRef split_sizes) {
  return split(self, split_sizes, 0);
}
/// Return a view of all of self.
inline Tensor slice(const Tensor& self) { return slice(self, 0); }

// Methods of Tensor as functions.
/// Same as self.detach().
inline Tensor detach(const Tensor& self) { return self.detach(); }
inline const Tensor& detach_(const Tensor& self) { return self.detach_(); }
/// Same as self.is_nonzero().
inline bool is_nonzero(const Tensor& self) { return self.is_nonzero(); }
/// Same as self.is_same_size(other).
inline bool is_same_size(const Tensor& self, const Tensor& other) {
  return self.is_same_size(other);
}
/// Same as self.size(dim).
inline int64_t size(const Tensor& self, int64_t dim) { return self.size(dim); }
/// Same as self.stride(dim).
inline int64_t stride(const Tensor& self, int64_t dim) { return self.stride(dim); }

}  // namespace ambit
