// Layers and losses as functions of namespace torch, which ambit has in nn::functional: the same,
// with the arguments in the order that libtorch has here.
#pragma once

#include <ambit/nn/nn.h>
#include <ambit/ops/elementwise.h>
#include <ambit/ops/pool.h>
#include <torch/namespaces.h>

#include <cstdint>
#include <optional>
#include <tuple>

namespace at {

using ambit::nn::functional::binary_cross_entropy;
using ambit::nn::functional::celu;
using ambit::nn::functional::cosine_embedding_loss;
using ambit::nn::functional::cosine_similarity;
using ambit::nn::functional::glu;
using ambit::nn::functional::hardshrink;
using ambit::nn::functional::hardtanh;
using ambit::nn::functional::hinge_embedding_loss;
using ambit::nn::functional::huber_loss;
using ambit::nn::functional::kl_div;
using ambit::nn::functional::l1_loss;
using ambit::nn::functional::leaky_relu;
using ambit::nn::functional::margin_ranking_loss;
using ambit::nn::functional::mish;
using ambit::nn::functional::multi_margin_loss;
using ambit::nn::functional::multilabel_margin_loss;
using ambit::nn::functional::poisson_nll_loss;
using ambit::nn::functional::prelu;
using ambit::nn::functional::relu6;
using ambit::nn::functional::rrelu;
using ambit::nn::functional::selu;
using ambit::nn::functional::silu;
using ambit::nn::functional::smooth_l1_loss;
using ambit::nn::functional::soft_margin_loss;
using ambit::nn::functional::softplus;
using ambit::nn::functional::softshrink;
using ambit::nn::functional::threshold;
using ambit::nn::functional::triplet_margin_loss;

inline Tensor binary_cross_entropy_with_logits(const Tensor& self, const Tensor& target,
                                               const Tensor& weight = {},
                                               const Tensor& pos_weight = {},
                                               Reduction reduction = Reduction::Mean) {
  return nn::functional::binary_cross_entropy_with_logits(self, target, weight, reduction,
                                                          pos_weight);
}
// No overloads, so that torch::nn::Functional(torch::max_pool2d, 3, 2, 0, 1, false) names one.
inline Tensor max_pool1d(const Tensor& self, IntArrayRef kernel_size, IntArrayRef stride = {},
                         IntArrayRef padding = 0, IntArrayRef dilation = 1,
                         bool ceil_mode = false) {
  return ambit::max_pool1d(self, kernel_size, stride, padding, dilation, ceil_mode);
}
inline std::tuple<Tensor, Tensor> max_pool1d_with_indices(
    const Tensor& self, IntArrayRef kernel_size, IntArrayRef stride = {}, IntArrayRef padding = 0,
    IntArrayRef dilation = 1, bool ceil_mode = false) {
  return ambit::max_pool1d_with_indices(self, kernel_size, stride, padding, dilation, ceil_mode);
}
inline Tensor max_pool2d(const Tensor& self, IntArrayRef kernel_size, IntArrayRef stride = {},
                         IntArrayRef padding = 0, IntArrayRef dilation = 1,
                         bool ceil_mode = false) {
  return ambit::max_pool2d(self, kernel_size, stride, padding, dilation, ceil_mode);
}
inline std::tuple<Tensor, Tensor> max_pool2d_with_indices(
    const Tensor& self, IntArrayRef kernel_size, IntArrayRef stride = {}, IntArrayRef padding = 0,
    IntArrayRef dilation = 1, bool ceil_mode = false) {
  return ambit::max_pool2d_with_indices(self, kernel_size, stride, padding, dilation, ceil_mode);
}
inline Tensor max_pool3d(const Tensor& self, IntArrayRef kernel_size, IntArrayRef stride = {},
                         IntArrayRef padding = 0, IntArrayRef dilation = 1,
                         bool ceil_mode = false) {
  return ambit::max_pool3d(self, kernel_size, stride, padding, dilation, ceil_mode);
}
inline std::tuple<Tensor, Tensor> max_pool3d_with_indices(
    const Tensor& self, IntArrayRef kernel_size, IntArrayRef stride = {}, IntArrayRef padding = 0,
    IntArrayRef dilation = 1, bool ceil_mode = false) {
  return ambit::max_pool3d_with_indices(self, kernel_size, stride, padding, dilation, ceil_mode);
}
inline Tensor avg_pool1d(const Tensor& self, IntArrayRef kernel_size, IntArrayRef stride = {},
                         IntArrayRef padding = 0, bool ceil_mode = false,
                         bool count_include_pad = true) {
  return ambit::avg_pool1d(self, kernel_size, stride, padding, ceil_mode, count_include_pad);
}
inline Tensor avg_pool2d(const Tensor& self, IntArrayRef kernel_size, IntArrayRef stride = {},
                         IntArrayRef padding = 0, bool ceil_mode = false,
                         bool count_include_pad = true,
                         std::optional<int64_t> divisor_override = {}) {
  return ambit::avg_pool2d(self, kernel_size, stride, padding, ceil_mode, count_include_pad,
                           divisor_override);
}
inline Tensor avg_pool3d(const Tensor& self, IntArrayRef kernel_size, IntArrayRef stride = {},
                         IntArrayRef padding = 0, bool ceil_mode = false,
                         bool count_include_pad = true,
                         std::optional<int64_t> divisor_override = {}) {
  return ambit::avg_pool3d(self, kernel_size, stride, padding, ceil_mode, count_include_pad,
                           divisor_override);
}

inline Tensor log_sigmoid(const Tensor& self) { return nn::functional::logsigmoid(self); }
/// scale (x > 0 ? x : alpha (e^(input_scale x) - 1))
inline Tensor elu(const Tensor& self, const Scalar& alpha = 1, const Scalar& scale = 1,
                  const Scalar& input_scale = 1) {
  if (scale.equal(1.0) && input_scale.equal(1.0)) {
    return nn::functional::elu(self, alpha.toDouble());
  }
  // Where x > 0 the exponential is not taken, so that its infinity reaches no gradient.
  const Tensor low = ambit::clamp(self, std::nullopt, 0);
  return ambit::where(self > 0, self, ambit::expm1(low * input_scale) * alpha) * scale;
}

}  // namespace at
