// Sizes and numbers of convolutions, pooling, images, norms, losses and padding.
#include "size_calls.h"

using namespace sizes;
namespace F = ambit::nn::functional;

namespace {

Tensor filter1() { return ones({4, 2, 3}); }
Tensor filter3() { return ones({4, 2, 3, 3, 3}); }
ConvParams conv(IntArrayRef stride, IntArrayRef padding, IntArrayRef dilation, int64_t groups) {
  return {.stride = stride, .padding = padding, .dilation = dilation, .groups = groups};
}
PoolParams pool(IntArrayRef kernel, IntArrayRef stride = 1, IntArrayRef padding = 0,
                IntArrayRef dilation = 1) {
  return {.kernel = kernel, .stride = stride, .padding = padding, .dilation = dilation};
}

#define CONVOLUTION(f, input, weight)                               \
  SIZE(f, params, input(), weight(), none(), conv(n, 0, 1, 1)),     \
      SIZE(f, params, input(), weight(), none(), conv(1, n, 1, 1)), \
      SIZE(f, params, input(), weight(), none(), conv(1, 0, n, 1)), \
      SIZE(f, params, input(), weight(), none(), conv(1, 0, 1, n)), \
      SIZE(f, params, input(), weight(), none(), conv(n, n, n, 1))
#define TRANSPOSED(f, input, weight)                               \
  SIZE(f, stride, input(), weight(), none(), n),                   \
      SIZE(f, padding, input(), weight(), none(), 1, n),           \
      SIZE(f, output_padding, input(), weight(), none(), 1, 0, n), \
      SIZE(f, output_padding, input(), weight(), none(), 4, 0, n), \
      SIZE(f, groups, input(), weight(), none(), 1, 0, 0, n),      \
      SIZE(f, dilation, input(), weight(), none(), 1, 0, 0, 1, n)

std::vector<SizeCall> convolution_calls() {
  return {
      CONVOLUTION(conv1d, line, filter1),
      CONVOLUTION(conv2d, image, filter),
      CONVOLUTION(conv3d, volume, filter3),
      TRANSPOSED(conv_transpose1d, line, ones({2, 4, 3}).clone),
      TRANSPOSED(conv_transpose2d, image, ones({2, 4, 3, 3}).clone),
      TRANSPOSED(conv_transpose3d, volume, ones({2, 4, 3, 3, 3}).clone),
      SIZE(convolution_map, params, image(), filter(), none(), conv(n, 0, 1, 1), UnaryOp::relu),
      SIZE(cudnn_convolution_relu, stride, image(), filter(), none(), {n, n}, {0, 0}, {1, 1}, 1),
      SIZE(cudnn_convolution_relu, padding, image(), filter(), none(), {1, 1}, {n, n}, {1, 1}, 1),
      SIZE(cudnn_convolution_relu, dilation, image(), filter(), none(), {1, 1}, {0, 0}, {n, n}, 1),
      SIZE(cudnn_convolution_relu, groups, image(), filter(), none(), {1, 1}, {0, 0}, {1, 1}, n),
      SIZE(cudnn_convolution_add_relu, stride, image(), filter(), ones({1, 4, 4, 4}), 1, none(),
           {n, n}, {0, 0}, {1, 1}, 1),
      SIZE(cudnn_convolution_add_relu, padding, image(), filter(), ones({1, 4, 4, 4}), 1, none(),
           {1, 1}, {n, n}, {1, 1}, 1),
      SIZE(cudnn_convolution_add_relu, dilation, image(), filter(), ones({1, 4, 4, 4}), 1, none(),
           {1, 1}, {0, 0}, {n, n}, 1),
      SIZE(cudnn_convolution_add_relu, groups, image(), filter(), ones({1, 4, 4, 4}), 1, none(),
           {1, 1}, {0, 0}, {1, 1}, n),
      SIZE(convolution_input_grad, input_sizes, ones({1, 4, 1, 1}), ones({4, 2, 1, 1}),
           {1, 2, n, 1}, ConvParams{}),
      SIZE(convolution_input_grad, input_sizes, ones({1, 1, 1, 1}), ones({1, 1, 1, 1}),
           {n, n, n, n}, ConvParams{}),
      SIZE(convolution_input_grad, params, ones({1, 4, 4, 4}), filter(), {1, 2, 6, 6},
           conv(n, 0, 1, 1)),
      SIZE(convolution_weight_grad, weight_sizes, ones({1, 4, 1, 1}), ones({1, 2, 1, 1}),
           {4, 2, n, 1}, ConvParams{}),
      SIZE(convolution_weight_grad, weight_sizes, ones({1, 1, 1, 1}), ones({1, 1, 1, 1}),
           {n, n, n, n}, ConvParams{}),
      SIZE(convolution_weight_grad, params, ones({1, 4, 4, 4}), image(), {4, 2, 3, 3},
           conv(n, 0, 1, 1)),
      SIZE(convolution, stride, image(), filter(), none(), n, 0, 1, false, 0, 1),
      SIZE(convolution, padding, image(), filter(), none(), 1, n, 1, false, 0, 1),
      SIZE(convolution, dilation, image(), filter(), none(), 1, 0, n, false, 0, 1),
      SIZE(convolution, output_padding, image(), filter(), none(), 1, 0, 1, false, n, 1),
      SIZE(convolution, groups, image(), filter(), none(), 1, 0, 1, false, 0, n),
      SIZE(conv1d, groups, line(), filter1(), none(), {1}, n, n, n),
      SIZE(conv2d, groups, image(), filter(), none(), {1, 1}, n, n, n),
      SIZE(conv3d, groups, volume(), filter3(), none(), {1, 1, 1}, n, n, n),
      SIZE(conv_tbc, pad, ones({6, 1, 2}), ones({3, 2, 4}), ones({4}), n),
  };
}

#define POOLING(f, input)                                                                   \
  SIZE(f, params, input(), pool(n)), SIZE(f, params, input(), pool(2, n)),                  \
      SIZE(f, params, input(), pool(2, 1, n)), SIZE(f, params, input(), pool(n, 1, n / 2)), \
      SIZE(f, params, input(), pool(2, 1, 0, n)), SIZE(f, params, input(), pool(n, n, n / 2, n))
#define MEANS(f, input)                                                    \
  SIZE(f, params, input(), pool(n)), SIZE(f, params, input(), pool(2, n)), \
      SIZE(f, params, input(), pool(2, 1, n)), SIZE(f, params, input(), pool(n, n, n / 2))

std::vector<SizeCall> pooling_calls() {
  return {
      POOLING(max_pool1d, line),
      POOLING(max_pool2d, image),
      POOLING(max_pool3d, volume),
      POOLING(max_pool1d_with_indices, line),
      POOLING(max_pool2d_with_indices, image),
      POOLING(max_pool3d_with_indices, volume),
      MEANS(avg_pool1d, line),
      MEANS(avg_pool2d, image),
      MEANS(avg_pool3d, volume),
      SIZE_AS(avg_pool2d, divisor_override, F::avg_pool2d(image(), 2, {}, 0, false, true, n)),
      SIZE_AS(avg_pool3d, divisor_override, F::avg_pool3d(volume(), 2, {}, 0, false, true, n)),
      SIZE(adaptive_avg_pool1d, output_size, line(), n),
      SIZE(adaptive_avg_pool2d, output_size, image(), {n, 1}),
      SIZE(adaptive_avg_pool2d, output_size, image(), {n, n}),
      SIZE(adaptive_avg_pool3d, output_size, volume(), {n, 1, 1}),
      SIZE(adaptive_max_pool1d, output_size, line(), n),
      SIZE(adaptive_max_pool2d, output_size, image(), {n, 1}),
      SIZE(adaptive_max_pool3d, output_size, volume(), {n, 1, 1}),
      SIZE(fractional_max_pool2d, kernel, image(), {n, 1}, {2, 2}, ones({1, 2, 2}) * 0.5),
      SIZE(fractional_max_pool2d, output_size, image(), {1, 1}, {n, 2}, ones({1, 2, 2}) * 0.5),
      SIZE(fractional_max_pool3d, kernel, volume(), {n, 1, 1}, {2, 2, 2}, ones({1, 2, 3}) * 0.5),
      SIZE(fractional_max_pool3d, output_size, volume(), {1, 1, 1}, {n, 2, 2},
           ones({1, 2, 3}) * 0.5),
      SIZE(max_unpool2d, output_size, image(), zeros({1, 2, 6, 6}, kInt64), {n, 6}),
      SIZE(max_unpool2d, output_size, image(), zeros({1, 2, 6, 6}, kInt64), {n, n}),
      SIZE(max_unpool3d, output_size, volume(), zeros({1, 2, 6, 6, 6}, kInt64), {n, 6, 6}),
      SIZE(max_unpool3d, stride, volume(), zeros({1, 2, 6, 6, 6}, kInt64), {6, 6, 6}, n),
      SIZE(max_unpool3d, padding, volume(), zeros({1, 2, 6, 6, 6}, kInt64), {6, 6, 6}, 1, n),
      SIZE_AS(max_unpool1d, output_size,
              F::max_unpool1d(line(), zeros({1, 2, 6}, kInt64),
                              F::MaxUnpool1dFuncOptions(n).stride(n).padding(0))),
      SIZE_AS(max_unpool1d, output_size,
              F::max_unpool1d(line(), zeros({1, 2, 6}, kInt64),
                              F::MaxUnpool1dFuncOptions(1).stride(1).padding(n))),
      SIZE_AS(lp_pool1d, kernel_size, F::lp_pool1d(line(), F::LPPool1dFuncOptions(2, n))),
      SIZE_AS(lp_pool1d, stride, F::lp_pool1d(line(), F::LPPool1dFuncOptions(2, 2).stride(n))),
      SIZE_AS(lp_pool2d, kernel_size, F::lp_pool2d(image(), F::LPPool2dFuncOptions(2, n))),
      SIZE_AS(lp_pool3d, kernel_size, F::lp_pool3d(volume(), F::LPPool3dFuncOptions(2, n))),
  };
}

#define UPSAMPLED1(f, ...) SIZE(f, output_size, line(), n, __VA_ARGS__)
#define UPSAMPLED2(f, ...)                                         \
  SIZE(f, output_size, image(), IntArrayRef({n, 2}), __VA_ARGS__), \
      SIZE(f, output_size, image(), IntArrayRef({n, n}), __VA_ARGS__)
#define UPSAMPLED3(f, ...) SIZE(f, output_size, volume(), IntArrayRef({n, 2, 2}), __VA_ARGS__)

std::vector<SizeCall> image_calls() {
  return {
      UPSAMPLED1(upsample_nearest1d, {}),
      UPSAMPLED2(upsample_nearest2d, {}),
      UPSAMPLED3(upsample_nearest3d, {}),
      UPSAMPLED1(_upsample_nearest_exact1d, {}),
      UPSAMPLED2(_upsample_nearest_exact2d, {}),
      UPSAMPLED3(_upsample_nearest_exact3d, {}),
      UPSAMPLED1(upsample_linear1d, true),
      UPSAMPLED2(upsample_bilinear2d, true),
      UPSAMPLED3(upsample_trilinear3d, true),
      UPSAMPLED2(upsample_bicubic2d, true),
      UPSAMPLED2(_upsample_bilinear2d_aa, true),
      UPSAMPLED2(_upsample_bicubic2d_aa, true),
      SIZE_AS(
          interpolate, size,
          F::interpolate(image(), F::InterpolateFuncOptions().size(std::vector<int64_t>{n, n}))),
      SIZE_AS(interpolate, scale_factor,
              F::interpolate(image(), F::InterpolateFuncOptions().scale_factor(
                                          std::vector<double>{static_cast<double>(n), 1}))),
      SIZE_AS(
          upsample_nearest1d, scale_factors,
          upsample_nearest1d(line(), std::nullopt, std::vector<double>{static_cast<double>(n)})),
      SIZE(grid_sampler, interpolation_mode, image(), ones({1, 2, 2, 2}), n, 0, true),
      SIZE(grid_sampler, padding_mode, image(), ones({1, 2, 2, 2}), 0, n, true),
      SIZE(grid_sampler_2d, interpolation_mode, image(), ones({1, 2, 2, 2}), n, 0, true),
      SIZE(grid_sampler_2d, padding_mode, image(), ones({1, 2, 2, 2}), 0, n, true),
      SIZE(grid_sampler_3d, interpolation_mode, volume(), ones({1, 2, 2, 2, 3}), n, 0, true),
      SIZE(grid_sampler_3d, padding_mode, volume(), ones({1, 2, 2, 2, 3}), 0, n, true),
      SIZE(affine_grid_generator, size, ones({1, 2, 3}), {1, 1, n, 2}, true),
      SIZE(affine_grid_generator, size, ones({1, 2, 3}), {1, n, 2, n}, false),
      SIZE(affine_grid_generator, size, ones({1, 3, 4}), {1, 1, n, n, n}, false),
      SIZE_AS(affine_grid, size, F::affine_grid(ones({1, 2, 3}), {1, 1, n, n})),
      SIZE(im2col, kernel_size, image(), n, 1, 0, 1),
      SIZE(im2col, dilation, image(), 2, n, 0, 1),
      SIZE(im2col, padding, image(), 2, 1, n, 1),
      SIZE(im2col, stride, image(), 2, 1, 0, n),
      SIZE(col2im, output_size, ones({1, 1, 1}), n, 1, 1, 0, 1),
      SIZE(col2im, kernel_size, ones({1, 1, 1}), 1, n, 1, 0, 1),
      SIZE(col2im, dilation, ones({1, 8, 25}), 6, 2, n, 0, 1),
      SIZE(col2im, padding, ones({1, 8, 25}), 6, 2, 1, n, 1),
      SIZE(col2im, stride, ones({1, 8, 25}), 6, 2, 1, 0, n),
  };
}

std::vector<SizeCall> rearranging_calls() {
  using nn::functional::pad;
  using nn::functional::pixel_shuffle;
  using nn::functional::pixel_unshuffle;
  using nn::functional::softmin;
  return {
      SIZE(pad, pad, line(), {n, 0}),
      SIZE(pad, pad, line(), {n, n}),
      SIZE(pad, pad, line(), {0, n}, "replicate"),
      SIZE(pad, pad, line(), {n, n}, "replicate"),
      SIZE(pad, pad, line(), {n, -n}, "replicate"),
      SIZE(pad, pad, line(), {n, n}, "reflect"),
      SIZE(pad, pad, line(), {n, n}, "circular"),
      SIZE(pad, pad, line(), {-n, n}, "circular"),
      SIZE(constant_pad_nd, pad, line(), {n, n, n, n}),
      SIZE(constant_pad_nd, pad, line(), {-n, 1}),
      SIZE(reflection_pad1d, padding, line(), {n, n}),
      SIZE(reflection_pad2d, padding, image(), {n, n, 1, 1}),
      SIZE(reflection_pad3d, padding, volume(), {n, n, 1, 1, 1, 1}),
      SIZE(replication_pad1d, padding, line(), {n, n}),
      SIZE(replication_pad2d, padding, image(), {n, n, n, n}),
      SIZE(replication_pad3d, padding, volume(), {n, n, n, n, n, n}),
      SIZE(pixel_shuffle, upscale_factor, image(), n),
      SIZE(pixel_shuffle, upscale_factor, ones({0, 6, 6}), n),
      SIZE(pixel_unshuffle, downscale_factor, image(), n),
      SIZE(pixel_unshuffle, downscale_factor, ones({2, 0, 0}), n),
      SIZE(channel_shuffle, groups, image(), n),
      SIZE(glu, dim, ones({2, 2}), n),
      SIZE(softmin, dim, m23(), n),
      SIZE_AS(gumbel_softmax, dim, F::gumbel_softmax(m23(), 1, false, n)),
      SIZE_AS(cosine_similarity, dim, cosine_similarity(m23(), m23(), n)),
      SIZE_AS(normalize, dim, F::normalize(m23(), 2, n)),
  };
}

std::vector<SizeCall> norm_and_loss_calls() {
  return {
      SIZE(layer_norm, normalized_shape, ones({2, 1}), {n}),
      SIZE(layer_norm, normalized_shape, ones({1, 1}), {n, n}),
      SIZE(rms_norm, normalized_shape, ones({2, 1}), {n}),
      SIZE(group_norm, num_groups, m23(), n),
      SIZE(native_layer_norm, normalized_shape, ones({2, 1}), {n}, {}, {}, 1e-5),
      SIZE(native_group_norm, N, ones({1, 4}), {}, {}, n, 4, 1, 1, 1e-5),
      SIZE(native_group_norm, C, ones({4, 1}), {}, {}, 4, n, 1, 1, 1e-5),
      SIZE(native_group_norm, HxW, m23(), {}, {}, 2, 3, n, 1, 1e-5),
      SIZE(native_group_norm, group, m23(), {}, {}, 2, 3, 1, n, 1e-5),
      SIZE_AS(local_response_norm, size, F::local_response_norm(image(), n)),
      SIZE(nll_loss, ignore_index, m23(), list(0), none(), Reduction::mean, n),
      SIZE(cross_entropy, ignore_index, m23(), list(0), none(), Reduction::mean, n),
      SIZE(cross_entropy_loss, ignore_index, m23(), list(0), none(), Reduction::mean, n),
      SIZE(ctc_loss, input_lengths, ones({3, 2, 4}), ones({2, 2}, kInt64), {n, 3}, {1, 1}),
      SIZE(ctc_loss, target_lengths, ones({3, 2, 4}), ones({2, 2}, kInt64), {3, 3}, {n, 1}),
      SIZE(ctc_loss, target_lengths, ones({3, 2, 4}), ones({2}, kInt64), {3, 3}, {n, n}),
      SIZE(ctc_loss, blank, ones({3, 2, 4}), ones({2, 2}, kInt64) * 2, {3, 3}, {1, 1}, n),
      SIZE_AS(multi_margin_loss, p, F::multi_margin_loss(m23(), list(0), n)),
      SIZE(embedding_bag, mode, m23(), list(0), zeros({1}, kInt64), false, n),
      SIZE(embedding_bag, padding_idx, m23(), list(0), zeros({1}, kInt64), false, 0, false, none(),
           false, n),
      SIZE(lstm, num_layers, ones({2, 1, 3}), {ones({1, 1, 2}), ones({1, 1, 2})},
           {ones({8, 3}), ones({8, 2})}, false, n, 0, false, false, false),
      SIZE(frobenius_norm, dim, m33(), {n}),
      SIZE(nuclear_norm, dim, m33(), {0, n}),
  };
}

const CallTable<SizeCall> kConvolutions(convolution_calls);
const CallTable<SizeCall> kPooling(pooling_calls);
const CallTable<SizeCall> kImages(image_calls);
const CallTable<SizeCall> kRearranging(rearranging_calls);
const CallTable<SizeCall> kNormsAndLosses(norm_and_loss_calls);

}  // namespace
