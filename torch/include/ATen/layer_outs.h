// Functions of layers with an output that is given, as libtorch has them: `torch::silu_out(out,
// x)`. What they do and refuse: ambit/ops/out.h.
#pragma once

#include <ambit/nn/functional/aten.h>
#include <ambit/nn/nn.h>
#include <ambit/ops/images.h>
#include <ambit/ops/out.h>
#include <ambit/ops/pool.h>
#include <torch/namespaces.h>

#include <concepts>
#include <tuple>
#include <utility>

namespace ambit {

// A list in braces has no type of its own: where it stands third, it is a list of sizes.
#define AMBIT_TORCH_OUT(name)                                                                \
  template <class... A>                                                                      \
  requires std::same_as<decltype(name(std::declval<A>()...)), Tensor> Tensor& name##_out(    \
      Tensor& out, A&&... a) {                                                               \
    return detail::fill_out(#name "_out", out, [&] { return name(std::forward<A>(a)...); }); \
  }                                                                                          \
  template <class... A>                                                                      \
  requires std::same_as<                                                                     \
      decltype(name(std::declval<Tensor>(), IntArrayRef(), std::declval<A>()...)), Tensor>   \
      Tensor& name##_out(Tensor& out, const Tensor& self, IntArrayRef sizes, A&&... a) {     \
    return detail::fill_out(#name "_out", out,                                               \
                            [&] { return name(self, sizes, std::forward<A>(a)...); });       \
  }
#define AMBIT_TORCH_OUT_PAIR(name)                                                        \
  template <class... A>                                                                   \
  requires std::same_as<decltype(name(std::declval<A>()...)), std::tuple<Tensor, Tensor>> \
      std::tuple<Tensor&, Tensor&> name##_out(Tensor& out, Tensor& indices, A&&... a) {   \
    return detail::fill_outs(                                                             \
        #name "_out", [&] { return name(std::forward<A>(a)...); }, out, indices);         \
  }
AMBIT_TORCH_OUT(celu)
AMBIT_TORCH_OUT(elu)
AMBIT_TORCH_OUT(glu)
AMBIT_TORCH_OUT(hardshrink)
AMBIT_TORCH_OUT(hardsigmoid)
AMBIT_TORCH_OUT(hardswish)
AMBIT_TORCH_OUT(hardtanh)
AMBIT_TORCH_OUT(leaky_relu)
AMBIT_TORCH_OUT(log_sigmoid)
AMBIT_TORCH_OUT(mish)
AMBIT_TORCH_OUT(prelu)
AMBIT_TORCH_OUT(silu)
AMBIT_TORCH_OUT(softplus)
AMBIT_TORCH_OUT(softshrink)
AMBIT_TORCH_OUT(threshold)
AMBIT_TORCH_OUT(binary_cross_entropy)
AMBIT_TORCH_OUT(binary_cross_entropy_with_logits)
AMBIT_TORCH_OUT(huber_loss)
AMBIT_TORCH_OUT(mse_loss)
AMBIT_TORCH_OUT(multi_margin_loss)
AMBIT_TORCH_OUT(multilabel_margin_loss)
AMBIT_TORCH_OUT(nll_loss)
AMBIT_TORCH_OUT(smooth_l1_loss)
AMBIT_TORCH_OUT(soft_margin_loss)
AMBIT_TORCH_OUT(adaptive_avg_pool2d)
AMBIT_TORCH_OUT(adaptive_avg_pool3d)
AMBIT_TORCH_OUT(avg_pool2d)
AMBIT_TORCH_OUT(avg_pool3d)
AMBIT_TORCH_OUT(max_unpool2d)
AMBIT_TORCH_OUT(max_unpool3d)
AMBIT_TORCH_OUT_PAIR(adaptive_max_pool2d)
AMBIT_TORCH_OUT_PAIR(adaptive_max_pool3d)
AMBIT_TORCH_OUT_PAIR(max_pool2d_with_indices)
AMBIT_TORCH_OUT_PAIR(max_pool3d_with_indices)
AMBIT_TORCH_OUT(linear)
AMBIT_TORCH_OUT(convolution)
AMBIT_TORCH_OUT(conv_tbc)
AMBIT_TORCH_OUT(embedding)
AMBIT_TORCH_OUT(im2col)
AMBIT_TORCH_OUT(col2im)
AMBIT_TORCH_OUT(grid_sampler_2d)
AMBIT_TORCH_OUT(grid_sampler_3d)
AMBIT_TORCH_OUT(affine_grid_generator)
AMBIT_TORCH_OUT(upsample_nearest1d)
AMBIT_TORCH_OUT(upsample_nearest2d)
AMBIT_TORCH_OUT(upsample_nearest3d)
AMBIT_TORCH_OUT(upsample_linear1d)
AMBIT_TORCH_OUT(upsample_bilinear2d)
AMBIT_TORCH_OUT(upsample_trilinear3d)
AMBIT_TORCH_OUT(upsample_bicubic2d)
AMBIT_TORCH_OUT(pixel_shuffle)
AMBIT_TORCH_OUT(pixel_unshuffle)
AMBIT_TORCH_OUT(channel_shuffle)
AMBIT_TORCH_OUT(constant_pad_nd)
AMBIT_TORCH_OUT(reflection_pad1d)
AMBIT_TORCH_OUT(reflection_pad2d)
AMBIT_TORCH_OUT(reflection_pad3d)
AMBIT_TORCH_OUT(replication_pad1d)
AMBIT_TORCH_OUT(replication_pad2d)
AMBIT_TORCH_OUT(replication_pad3d)
AMBIT_TORCH_OUT(frobenius_norm)
AMBIT_TORCH_OUT(nuclear_norm)
AMBIT_TORCH_OUT(linalg_cross)
AMBIT_TORCH_OUT(linalg_matmul)
AMBIT_TORCH_OUT(concatenate)
#undef AMBIT_TORCH_OUT
#undef AMBIT_TORCH_OUT_PAIR

}  // namespace ambit
