// Functions of programs: convolution, pooling, recurrent layers, attention, dropout and images.
#include <ambit/nn/functional/aten.h>
#include <ambit/nn/functional/recurrent.h>
#include <ambit/ops/arrange.h>
#include <ambit/ops/attention.h>
#include <ambit/ops/conv.h>
#include <ambit/ops/images.h>
#include <ambit/ops/pool.h>
#include <ambit/ops/random.h>

#include "call.h"

namespace ambit::graph {
namespace {

#define AMBIT_CONV(stride, padding, dilation) \
  "input weight bias=None stride=" stride " padding=" padding " dilation=" dilation " groups=1"
#define AMBIT_TRANSPOSED \
  "input weight bias=None stride=1 padding=0 output_padding=0 groups=1 dilation=1"
#define AMBIT_MAX_POOL "self kernel_size stride=[] padding=0 dilation=1 ceil_mode=False"
#define AMBIT_AVG_POOL "self kernel_size stride=[] padding=0 ceil_mode=False count_include_pad=True"
#define AMBIT_RNN "input hx params has_biases num_layers dropout train bidirectional batch_first"
#define AMBIT_PACKED "data batch_sizes hx params has_biases num_layers dropout train bidirectional"
#define AMBIT_CELL "input hx w_ih w_hh b_ih=None b_hh=None"

using Conv = Tensor (*)(const Tensor&, const Tensor&, const Tensor&, const ConvParams&);
using Transposed = Tensor (*)(const Tensor&, const Tensor&, const Tensor&, IntArrayRef, IntArrayRef,
                              IntArrayRef, int64_t, IntArrayRef);

Tensor convolved(const Call& c, Conv conv) {
  return conv(c.tensor(0), c.tensor(1), c.optional_tensor(2),
              {.stride = c.integers(3),
               .padding = c.integers(4),
               .dilation = c.integers(5),
               .groups = c.integer(6)});
}

Tensor transposed(const Call& c, Transposed conv) {
  return conv(c.tensor(0), c.tensor(1), c.optional_tensor(2), c.integers(3), c.integers(4),
              c.integers(5), c.integer(6), c.integers(7));
}

PoolParams max_params(const Call& c) {
  const IntArrayRef stride = c.integers(2);
  return {.kernel = c.integers(1),
          .stride = stride.empty() ? c.integers(1) : stride,
          .padding = c.integers(3),
          .dilation = c.integers(4),
          .ceil_mode = c.flag(5)};
}

PoolParams avg_params(const Call& c, bool has_divisor) {
  const IntArrayRef stride = c.integers(2);
  return {.kernel = c.integers(1),
          .stride = stride.empty() ? c.integers(1) : stride,
          .padding = c.integers(3),
          .ceil_mode = c.flag(4),
          .count_include_pad = c.flag(5),
          .divisor = has_divisor ? c.optional_integer(6).value_or(0) : 0};
}

using Recurrent = std::tuple<Tensor, Tensor> (*)(const Tensor&, const Tensor&, TensorList, bool,
                                                 int64_t, double, bool, bool, bool);
void recurrent(Call& c, Recurrent layer) {
  c.give(layer(c.tensor(0), c.tensor(1), c.tensors(2), c.flag(3), c.integer(4), c.real(5),
               c.training(6), c.flag(7), c.flag(8)));
}

using Cell = Tensor (*)(const Tensor&, const Tensor&, const Tensor&, const Tensor&, const Tensor&,
                        const Tensor&);
Tensor cell(const Call& c, Cell step) {
  return step(c.tensor(0), c.tensor(1), c.tensor(2), c.tensor(3), c.optional_tensor(4),
              c.optional_tensor(5));
}

Tensor attention(const Call& c) {
  const Tensor q = c.tensor(0);
  Tensor k = c.tensor(1), v = c.tensor(2);
  if (c.flag(7) && k.size(-3) != 0) {  // several heads of q use the same head of k and v
    k = repeat_interleave(k, q.size(-3) / k.size(-3), -3);
    v = repeat_interleave(v, q.size(-3) / v.size(-3), -3);
  }
  return scaled_dot_product_attention(q, k, v, c.optional_tensor(3), c.real(4), c.flag(5),
                                      c.optional_real(6));
}

using Upsample = Tensor (*)(const Tensor&, OptionalIntArrayRef, const ScaleFactors&);
using UpsampleAligned = Tensor (*)(const Tensor&, OptionalIntArrayRef, bool, const ScaleFactors&);

std::optional<ArrayRef<double>> given(const Call& c, size_t i, const std::vector<double>& factors) {
  return c.has(i) ? std::optional(ArrayRef<double>(factors)) : std::nullopt;
}

Tensor upsampled(const Call& c, Upsample upsample) {
  const std::vector<double> factors = c.reals(2);
  return upsample(c.tensor(0), c.optional_integers(1), given(c, 2, factors));
}

Tensor upsampled(const Call& c, UpsampleAligned upsample) {
  const std::vector<double> factors = c.reals(3);
  return upsample(c.tensor(0), c.optional_integers(1), c.flag(2), given(c, 3, factors));
}

IntOrPair pair(const Call& c, size_t i) { return c.integers(i); }

constexpr Function kRows[] = {
    // clang-format off
    {"conv1d.default", AMBIT_CONV("1", "0", "1"), one([](Call& c) {
       return convolved(c, conv1d); })},
    {"conv2d.default", AMBIT_CONV("1", "0", "1"), one([](Call& c) {
       return convolved(c, conv2d); })},
    {"conv3d.default", AMBIT_CONV("1", "0", "1"), one([](Call& c) {
       return convolved(c, conv3d); })},
    {"conv1d.padding", AMBIT_CONV("1", "valid", "1"), one([](Call& c) {
       return conv1d(c.tensor(0), c.tensor(1), c.optional_tensor(2), c.integers(3), c.text(4),
                     c.integers(5), c.integer(6)); })},
    {"conv2d.padding", AMBIT_CONV("1", "valid", "1"), one([](Call& c) {
       return conv2d(c.tensor(0), c.tensor(1), c.optional_tensor(2), c.integers(3), c.text(4),
                     c.integers(5), c.integer(6)); })},
    {"conv_transpose1d.default", AMBIT_TRANSPOSED, one([](Call& c) {
       return transposed(c, conv_transpose1d); })},
    {"conv_transpose2d.input", AMBIT_TRANSPOSED, one([](Call& c) {
       return transposed(c, conv_transpose2d); })},
    {"conv_transpose3d.input", AMBIT_TRANSPOSED, one([](Call& c) {
       return transposed(c, conv_transpose3d); })},
    {"convolution.default", "input weight bias stride padding dilation transposed output_padding "
     "groups", one([](Call& c) {
       return convolution(c.tensor(0), c.tensor(1), c.optional_tensor(2), c.integers(3),
                          c.integers(4), c.integers(5), c.flag(6), c.integers(7),
                          c.integer(8)); })},
    {"max_pool1d.default", AMBIT_MAX_POOL, one([](Call& c) {
       return max_pool1d(c.tensor(0), max_params(c)); })},
    {"max_pool2d.default", AMBIT_MAX_POOL, one([](Call& c) {
       return max_pool2d(c.tensor(0), max_params(c)); })},
    {"max_pool3d.default", AMBIT_MAX_POOL, one([](Call& c) {
       return max_pool3d(c.tensor(0), max_params(c)); })},
    {"max_pool1d_with_indices.default", AMBIT_MAX_POOL, many([](Call& c) {
       c.give(max_pool1d_with_indices(c.tensor(0), max_params(c))); })},
    {"max_pool2d_with_indices.default", AMBIT_MAX_POOL, many([](Call& c) {
       c.give(max_pool2d_with_indices(c.tensor(0), max_params(c))); })},
    {"max_pool3d_with_indices.default", AMBIT_MAX_POOL, many([](Call& c) {
       c.give(max_pool3d_with_indices(c.tensor(0), max_params(c))); })},
    {"avg_pool1d.default", AMBIT_AVG_POOL, one([](Call& c) {
       return avg_pool1d(c.tensor(0), avg_params(c, false)); })},
    {"avg_pool2d.default", AMBIT_AVG_POOL " divisor_override=None", one([](Call& c) {
       return avg_pool2d(c.tensor(0), avg_params(c, true)); })},
    {"avg_pool3d.default", AMBIT_AVG_POOL " divisor_override=None", one([](Call& c) {
       return avg_pool3d(c.tensor(0), avg_params(c, true)); })},
    {"adaptive_avg_pool1d.default", "self output_size", one([](Call& c) {
       return adaptive_avg_pool1d(c.tensor(0), c.integers(1)); })},
    {"adaptive_avg_pool2d.default", "self output_size", one([](Call& c) {
       return adaptive_avg_pool2d(c.tensor(0), c.integers(1)); })},
    {"_adaptive_avg_pool2d.default", "self output_size", one([](Call& c) {
       return adaptive_avg_pool2d(c.tensor(0), c.integers(1)); })},
    {"adaptive_avg_pool3d.default", "self output_size", one([](Call& c) {
       return adaptive_avg_pool3d(c.tensor(0), c.integers(1)); })},
    {"_adaptive_avg_pool3d.default", "self output_size", one([](Call& c) {
       return adaptive_avg_pool3d(c.tensor(0), c.integers(1)); })},
    {"adaptive_max_pool1d.default", "self output_size", many([](Call& c) {
       c.give(adaptive_max_pool1d(c.tensor(0), c.integers(1))); })},
    {"adaptive_max_pool2d.default", "self output_size", many([](Call& c) {
       c.give(adaptive_max_pool2d(c.tensor(0), c.integers(1))); })},
    {"adaptive_max_pool3d.default", "self output_size", many([](Call& c) {
       c.give(adaptive_max_pool3d(c.tensor(0), c.integers(1))); })},
    {"fractional_max_pool2d.default", "self kernel_size output_size random_samples",
     many([](Call& c) {
       c.give(fractional_max_pool2d(c.tensor(0), c.integers(1), c.integers(2), c.tensor(3))); })},
    {"fractional_max_pool3d.default", "self kernel_size output_size random_samples",
     many([](Call& c) {
       c.give(fractional_max_pool3d(c.tensor(0), c.integers(1), c.integers(2), c.tensor(3))); })},
    {"max_unpool2d.default", "self indices output_size", one([](Call& c) {
       return max_unpool2d(c.tensor(0), c.tensor(1), c.integers(2)); })},
    {"max_unpool3d.default", "self indices output_size stride padding", one([](Call& c) {
       return max_unpool3d(c.tensor(0), c.tensor(1), c.integers(2), c.integers(3),
                           c.integers(4)); })},
    {"im2col.default", "self kernel_size dilation padding stride", one([](Call& c) {
       return im2col(c.tensor(0), pair(c, 1), pair(c, 2), pair(c, 3), pair(c, 4)); })},
    {"col2im.default", "self output_size kernel_size dilation padding stride", one([](Call& c) {
       return col2im(c.tensor(0), pair(c, 1), pair(c, 2), pair(c, 3), pair(c, 4),
                     pair(c, 5)); })},
    {"upsample_nearest1d.vec", "input output_size scale_factors", one([](Call& c) {
       return upsampled(c, upsample_nearest1d); })},
    {"upsample_nearest2d.vec", "input output_size scale_factors", one([](Call& c) {
       return upsampled(c, upsample_nearest2d); })},
    {"upsample_nearest3d.vec", "input output_size scale_factors", one([](Call& c) {
       return upsampled(c, upsample_nearest3d); })},
    {"upsample_linear1d.vec", "input output_size align_corners scale_factors", one([](Call& c) {
       return upsampled(c, upsample_linear1d); })},
    {"upsample_bilinear2d.vec", "input output_size align_corners scale_factors",
     one([](Call& c) { return upsampled(c, upsample_bilinear2d); })},
    {"upsample_trilinear3d.vec", "input output_size align_corners scale_factors",
     one([](Call& c) { return upsampled(c, upsample_trilinear3d); })},
    {"upsample_bicubic2d.vec", "input output_size align_corners scale_factors",
     one([](Call& c) { return upsampled(c, upsample_bicubic2d); })},
    {"upsample_nearest2d.default", "self output_size scales_h=None scales_w=None",
     one([](Call& c) {
       return upsample_nearest2d(c.tensor(0), c.integers(1), c.optional_real(2),
                                 c.optional_real(3)); })},
    {"upsample_bilinear2d.default", "self output_size align_corners scales_h=None scales_w=None",
     one([](Call& c) {
       return upsample_bilinear2d(c.tensor(0), c.integers(1), c.flag(2), c.optional_real(3),
                                  c.optional_real(4)); })},
    {"grid_sampler.default", "input grid interpolation_mode padding_mode align_corners",
     one([](Call& c) {
       return grid_sampler(c.tensor(0), c.tensor(1), c.integer(2), c.integer(3), c.flag(4)); })},
    {"grid_sampler_2d.default", "input grid interpolation_mode padding_mode align_corners",
     one([](Call& c) {
       return grid_sampler(c.tensor(0), c.tensor(1), c.integer(2), c.integer(3), c.flag(4)); })},
    {"affine_grid_generator.default", "theta size align_corners", one([](Call& c) {
       return affine_grid_generator(c.tensor(0), c.integers(1), c.flag(2)); })},
    {"lstm.input", AMBIT_RNN, many([](Call& c) {
       c.give(lstm(c.tensor(0), c.tensors(1), c.tensors(2), c.flag(3), c.integer(4), c.real(5),
                   c.training(6), c.flag(7), c.flag(8))); })},
    {"gru.input", AMBIT_RNN, many([](Call& c) { recurrent(c, gru); })},
    {"rnn_tanh.input", AMBIT_RNN, many([](Call& c) { recurrent(c, rnn_tanh); })},
    {"rnn_relu.input", AMBIT_RNN, many([](Call& c) { recurrent(c, rnn_relu); })},
    {"lstm.data", AMBIT_PACKED, many([](Call& c) {
       c.give(lstm(c.tensor(0), c.tensor(1), c.tensors(2), c.tensors(3), c.flag(4), c.integer(5),
                   c.real(6), c.training(7), c.flag(8))); })},
    {"gru.data", AMBIT_PACKED, many([](Call& c) {
       c.give(gru(c.tensor(0), c.tensor(1), c.tensor(2), c.tensors(3), c.flag(4), c.integer(5),
                  c.real(6), c.training(7), c.flag(8))); })},
    {"lstm_cell.default", AMBIT_CELL, many([](Call& c) {
       c.give(lstm_cell(c.tensor(0), c.tensors(1), c.tensor(2), c.tensor(3), c.optional_tensor(4),
                        c.optional_tensor(5))); })},
    {"gru_cell.default", AMBIT_CELL, one([](Call& c) { return cell(c, gru_cell); })},
    {"rnn_tanh_cell.default", AMBIT_CELL, one([](Call& c) { return cell(c, rnn_tanh_cell); })},
    {"rnn_relu_cell.default", AMBIT_CELL, one([](Call& c) { return cell(c, rnn_relu_cell); })},
    {"scaled_dot_product_attention.default", "query key value attn_mask=None dropout_p=0.0 "
     "is_causal=False scale=None enable_gqa=False", one([](Call& c) { return attention(c); })},
    {"dropout.default", "input p train", one([](Call& c) {
       return dropout(c.tensor(0), c.real(1), c.training(2)); })},
    {"dropout_.default", "self p train", one([](Call& c) -> Tensor {
       return dropout_(c.tensor(0), c.real(1), c.training(2)); })},
    {"feature_dropout.default", "input p train", one([](Call& c) {
       return feature_dropout(c.tensor(0), c.real(1), c.training(2)); })},
    {"native_dropout.default", "input p train", many([](Call& c) {
       c.give(native_dropout(c.tensor(0), c.real(1),
                             c.has(2) ? std::optional(c.training(2)) : std::nullopt)); })},
    // clang-format on
};

}  // namespace

constinit const std::span<const Function> kLayerFunctions = kRows;

}  // namespace ambit::graph
