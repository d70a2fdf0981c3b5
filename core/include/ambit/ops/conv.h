// Convolution, transposed convolution, and their gradients, of floating-point tensors of one dtype.
// Errors of all: ShapeError, DTypeError, DeviceMismatchError; Error for an undefined tensor.
#pragma once

#include <ambit/params.h>
#include <ambit/tensor.h>

#include <concepts>

namespace ambit {

/// Compute a 2-D cross-correlation (the "convolution" of deep learning).
///   out[n,k,i,j] = bias[k] + sum over c < C/groups, r, s of weight[k,c,r,s] *
///       input[n, c + g C/groups, i stride + r dilation - padding, ...], g = floor(k groups / K)
///   P = floor((H + 2 padding - dilation (R - 1) - 1) / stride) + 1, Q likewise of W and S
/// input [N,C,H,W] or [C,H,W], outside of it zeros; weight [K,C/groups,R,S]; bias [K] or undefined
/// -> out [N,K,P,Q] or [K,P,Q]. stride, dilation >= 1 and padding >= 0 in elements (h, w); groups
/// divide C and K; the dilated window fits into the padded input.
/// Gradient: input, weight, bias. Source: Dumoulin & Visin 2016, arXiv:1603.07285, section 2.
///   conv2d(x, w, b, {.stride = {2, 2}, .padding = {1, 1}})
AMBIT_API Tensor conv2d(const Tensor& input, const Tensor& weight, const Tensor& bias = {},
                        const Conv2dParams& params = {});
/// With libtorch's arguments: conv2d(x, w, b, 1, {2, 1}).
template <std::integral Size>
Tensor conv2d(const Tensor& input, const Tensor& weight, const Tensor& bias, Size stride) {
  return conv2d(input, weight, bias, Conv2dParams{{stride}});
}
inline Tensor conv2d(const Tensor& input, const Tensor& weight, const Tensor& bias,
                     IntOrPair stride, IntOrPair padding, IntOrPair dilation = 1,
                     int64_t groups = 1) {
  return conv2d(input, weight, bias, Conv2dParams{stride, padding, dilation, groups});
}
/// Compute conv2d's gradient by its input.
///   out[n,c,h,w] = sum of grad[n,k,i,j] * weight[k,c,r,s] over all k, i, j, r, s that conv2d
///       multiplies input[n,c,h,w] for
/// grad [N,K,P,Q], weight [K,C/groups,R,S] -> out of input_sizes [N,C,H,W]. Gradient: grad, weight.
AMBIT_API Tensor conv2d_input_grad(const Tensor& grad, const Tensor& weight,
                                   IntArrayRef input_sizes, const Conv2dParams& params);
/// Compute conv2d's gradient by its weight.
///   out[k,c,r,s] = sum of grad[n,k,i,j] * input[n, ...] over all n, i, j, at the element of input
///       that conv2d multiplies by weight[k,c,r,s] for out[n,k,i,j]
/// grad [N,K,P,Q], input [N,C,H,W] -> out of weight_sizes [K,C/groups,R,S]. Gradient: grad, input.
AMBIT_API Tensor conv2d_weight_grad(const Tensor& grad, const Tensor& input,
                                    IntArrayRef weight_sizes, const Conv2dParams& params);

/// Compute a transposed convolution, conv2d's gradient by its input as a layer:
///   P = (H - 1) stride - 2 padding + dilation (R - 1) + output_padding + 1, Q likewise of W and S
/// input [N,C,H,W] or [C,H,W], weight [C,K/groups,R,S], bias [K] or undefined -> [N,K,P,Q] or
/// [K,P,Q]. output_padding in [0, max(stride, dilation)) makes one of the sizes that conv2d maps to
/// H. Gradient: input, weight, bias. Source: Dumoulin & Visin 2016, arXiv:1603.07285, section 4.
AMBIT_API Tensor conv_transpose2d(const Tensor& input, const Tensor& weight,
                                  const Tensor& bias = {}, IntOrPair stride = 1,
                                  IntOrPair padding = 0, IntOrPair output_padding = 0,
                                  int64_t groups = 1, IntOrPair dilation = 1);

/// conv2d in one dim: input [N,C,L] or [C,L], weight [K,C/groups,R] -> [N,K,P] or [K,P].
AMBIT_API Tensor conv1d(const Tensor& input, const Tensor& weight, const Tensor& bias = {},
                        int64_t stride = 1, int64_t padding = 0, int64_t dilation = 1,
                        int64_t groups = 1);
/// conv_transpose2d in one dim: input [N,C,L] or [C,L], weight [C,K/groups,R] -> [N,K,P] or [K,P].
AMBIT_API Tensor conv_transpose1d(const Tensor& input, const Tensor& weight,
                                  const Tensor& bias = {}, int64_t stride = 1, int64_t padding = 0,
                                  int64_t output_padding = 0, int64_t groups = 1,
                                  int64_t dilation = 1);

}  // namespace ambit
