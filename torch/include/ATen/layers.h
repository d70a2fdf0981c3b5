// Layer functions of namespace torch whose parameters differ from ambit's. The others are in
// ambit/nn/functional/aten.h.
#pragma once

#include <ambit/error.h>
#include <ambit/nn/functional/aten.h>
#include <ambit/nn/nn.h>
#include <ambit/ops/pool.h>
#include <torch/namespaces.h>

#include <concepts>
#include <cstdint>
#include <optional>
#include <tuple>

namespace at {

/// libtorch's numbers of reductions, which functions outside of nn::functional accept.
namespace Reduction {
enum Reduction { None, Mean, Sum, END };
}  // namespace Reduction

}  // namespace at

// Losses with such a number as reduction. In ambit's namespace, as overloads of those with ambit's
// enumeration.
namespace ambit {
namespace detail {

template <class T>
concept ReductionNumber = std::integral<T> || std::same_as<T, at::Reduction::Reduction>;

template <ReductionNumber N>
Reduction reduction_of(N number) {
  switch (static_cast<int64_t>(number)) {
    case at::Reduction::None:
      return Reduction::none;
    case at::Reduction::Mean:
      return Reduction::mean;
    case at::Reduction::Sum:
      return Reduction::sum;
    default:
      throw Error("loss: expected the reduction 0, 1 or 2, got another number");
  }
}

}  // namespace detail

#define AMBIT_TORCH_LOSS(name)                                         \
  template <detail::ReductionNumber N>                                 \
  Tensor name(const Tensor& self, const Tensor& target, N reduction) { \
    return name(self, target, detail::reduction_of(reduction));        \
  }
AMBIT_TORCH_LOSS(l1_loss)
AMBIT_TORCH_LOSS(mse_loss)
AMBIT_TORCH_LOSS(soft_margin_loss)
AMBIT_TORCH_LOSS(multilabel_margin_loss)
#undef AMBIT_TORCH_LOSS
template <detail::ReductionNumber N>
Tensor smooth_l1_loss(const Tensor& self, const Tensor& target, N reduction, double beta = 1) {
  return smooth_l1_loss(self, target, detail::reduction_of(reduction), beta);
}
template <detail::ReductionNumber N>
Tensor huber_loss(const Tensor& self, const Tensor& target, N reduction, double delta = 1) {
  return huber_loss(self, target, detail::reduction_of(reduction), delta);
}
template <detail::ReductionNumber N>
Tensor kl_div(const Tensor& self, const Tensor& target, N reduction, bool log_target = false) {
  return kl_div(self, target, detail::reduction_of(reduction), log_target);
}
template <detail::ReductionNumber N>
Tensor binary_cross_entropy(const Tensor& self, const Tensor& target, const Tensor& weight,
                            N reduction) {
  return binary_cross_entropy(self, target, weight, detail::reduction_of(reduction));
}
template <detail::ReductionNumber N>
Tensor binary_cross_entropy_with_logits(const Tensor& self, const Tensor& target,
                                        const Tensor& weight, const Tensor& pos_weight,
                                        N reduction) {
  return binary_cross_entropy_with_logits(self, target, weight, pos_weight,
                                          detail::reduction_of(reduction));
}
template <detail::ReductionNumber N>
Tensor cross_entropy_loss(const Tensor& self, const Tensor& target, const Tensor& weight,
                          N reduction, int64_t ignore_index = -100, double label_smoothing = 0) {
  return cross_entropy_loss(self, target, weight, detail::reduction_of(reduction), ignore_index,
                            label_smoothing);
}
template <detail::ReductionNumber N>
Tensor nll_loss(const Tensor& self, const Tensor& target, const Tensor& weight, N reduction,
                int64_t ignore_index = -100) {
  return nll_loss(self, target, weight, detail::reduction_of(reduction), ignore_index);
}
inline Tensor nll_loss_nd(const Tensor& self, const Tensor& target, const Tensor& weight = {},
                          int64_t reduction = at::Reduction::Mean, int64_t ignore_index = -100) {
  return nll_loss(self, target, weight, reduction, ignore_index);
}
inline Tensor nll_loss2d(const Tensor& self, const Tensor& target, const Tensor& weight = {},
                         int64_t reduction = at::Reduction::Mean, int64_t ignore_index = -100) {
  return nll_loss(self, target, weight, reduction, ignore_index);
}
template <class Lengths, detail::ReductionNumber N>
Tensor ctc_loss(const Tensor& log_probs, const Tensor& targets, const Lengths& input_lengths,
                const Lengths& target_lengths, int64_t blank, N reduction,
                bool zero_infinity = false) {
  return ctc_loss(log_probs, targets, input_lengths, target_lengths, blank,
                  detail::reduction_of(reduction), zero_infinity);
}
template <detail::ReductionNumber N>
Tensor cosine_embedding_loss(const Tensor& input1, const Tensor& input2, const Tensor& target,
                             double margin, N reduction) {
  return cosine_embedding_loss(input1, input2, target, margin, detail::reduction_of(reduction));
}
template <detail::ReductionNumber N>
Tensor margin_ranking_loss(const Tensor& input1, const Tensor& input2, const Tensor& target,
                           double margin, N reduction) {
  return margin_ranking_loss(input1, input2, target, margin, detail::reduction_of(reduction));
}
template <detail::ReductionNumber N>
Tensor hinge_embedding_loss(const Tensor& self, const Tensor& target, double margin, N reduction) {
  return hinge_embedding_loss(self, target, margin, detail::reduction_of(reduction));
}
template <detail::ReductionNumber N>
Tensor multi_margin_loss(const Tensor& self, const Tensor& target, const Scalar& p,
                         const Scalar& margin, const Tensor& weight, N reduction) {
  return multi_margin_loss(self, target, p.toLong(), margin.toDouble(), weight,
                           detail::reduction_of(reduction));
}
template <detail::ReductionNumber N>
Tensor poisson_nll_loss(const Tensor& input, const Tensor& target, bool log_input, bool full,
                        double eps, N reduction) {
  return poisson_nll_loss(input, target, log_input, full, eps, detail::reduction_of(reduction));
}
template <detail::ReductionNumber N>
Tensor triplet_margin_loss(const Tensor& anchor, const Tensor& positive, const Tensor& negative,
                           double margin, double p, double eps, bool swap, N reduction) {
  return triplet_margin_loss(anchor, positive, negative, margin, p, eps, swap,
                             detail::reduction_of(reduction));
}

}  // namespace ambit

// Included after these declarations, which it uses.
#include <ATen/functional_variants.h>
#include <ATen/layer_outs.h>

namespace at {

// No overloads, so that torch::nn::Functional(torch::max_pool2d, 3, 2, 0, 1, false) is unambiguous.
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
inline Tensor native_channel_shuffle(const Tensor& self, int64_t groups) {
  return ambit::channel_shuffle(self, groups);
}
/// ambit::elu with Scalar parameters, as in libtorch.
inline Tensor elu(const Tensor& self, const Scalar& alpha = 1, const Scalar& scale = 1,
                  const Scalar& input_scale = 1) {
  return ambit::elu(self, alpha.toDouble(), scale.toDouble(), input_scale.toDouble());
}

}  // namespace at
