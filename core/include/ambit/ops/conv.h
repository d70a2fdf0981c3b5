// Convolution in one to three spatial dims, transposed convolution, and their gradients.
// Floating-point tensors of one dtype. Errors of all: ShapeError, DTypeError, DeviceMismatchError;
// Error for an undefined tensor.
#pragma once

#include <ambit/detail/named_padding.h>
#include <ambit/params.h>
#include <ambit/tensor.h>

#include <optional>

namespace ambit {

/// Compute a 1-D cross-correlation: like conv2d, with input [N,C,L] or [C,L] and weight
/// [K,C/groups,R] -> [N,K,P] or [K,P].
AMBIT_API Tensor conv1d(const Tensor& input, const Tensor& weight, const Tensor& bias = {},
                        const ConvParams& params = {});
/// Compute a 2-D cross-correlation (the "convolution" of deep learning).
///   out[n,k,i,j] = bias[k] + sum over c < C/groups, r, s of weight[k,c,r,s] *
///       input[n, c + g C/groups, i stride + r dilation - padding, ...], g = floor(k groups / K)
///   P = floor((H + 2 padding - dilation (R - 1) - 1) / stride) + 1, Q likewise of W and S
/// input [N,C,H,W] or [C,H,W], zero outside; weight [K,C/groups,R,S]; bias [K] or undefined -> out
/// [N,K,P,Q] or [K,P,Q]. stride, dilation >= 1 and padding >= 0 in elements (h, w); groups divides
/// C and K; the dilated window fits into the padded input.
/// Gradient: input, weight, bias. Source: Dumoulin & Visin 2016, arXiv:1603.07285, section 2.
///   conv2d(x, w, b, {.stride = {2, 2}, .padding = {1, 1}})
AMBIT_API Tensor conv2d(const Tensor& input, const Tensor& weight, const Tensor& bias = {},
                        const ConvParams& params = {});
/// Compute a 3-D cross-correlation: like conv2d, with input [N,C,D,H,W] or [C,D,H,W] and weight
/// [K,C/groups,T,R,S] -> [N,K,O,P,Q] or [K,O,P,Q].
AMBIT_API Tensor conv3d(const Tensor& input, const Tensor& weight, const Tensor& bias = {},
                        const ConvParams& params = {});

/// As conv1d(), conv2d() and conv3d() above, with libtorch's arguments; each is one number, or one
/// number for each spatial dim: conv2d(x, w, b, 1, {2, 1}).
/// @{
template <PerAxisNumbers Stride>
Tensor conv1d(const Tensor& input, const Tensor& weight, const Tensor& bias, const Stride& stride,
              const PerAxisArgument& padding = 0, const PerAxisArgument& dilation = 1,
              int64_t groups = 1) {
  return conv1d(input, weight, bias,
                ConvParams{PerAxisArgument(stride), padding, dilation, groups});
}
inline Tensor conv1d(const Tensor& input, const Tensor& weight, const Tensor& bias,
                     const PerAxisList& stride, const PerAxisArgument& padding = 0,
                     const PerAxisArgument& dilation = 1, int64_t groups = 1) {
  return conv1d(input, weight, bias,
                ConvParams{PerAxisArgument(stride), padding, dilation, groups});
}
template <PerAxisNumbers Stride>
Tensor conv2d(const Tensor& input, const Tensor& weight, const Tensor& bias, const Stride& stride,
              const PerAxisArgument& padding = 0, const PerAxisArgument& dilation = 1,
              int64_t groups = 1) {
  return conv2d(input, weight, bias,
                ConvParams{PerAxisArgument(stride), padding, dilation, groups});
}
inline Tensor conv2d(const Tensor& input, const Tensor& weight, const Tensor& bias,
                     const PerAxisList& stride, const PerAxisArgument& padding = 0,
                     const PerAxisArgument& dilation = 1, int64_t groups = 1) {
  return conv2d(input, weight, bias,
                ConvParams{PerAxisArgument(stride), padding, dilation, groups});
}
template <PerAxisNumbers Stride>
Tensor conv3d(const Tensor& input, const Tensor& weight, const Tensor& bias, const Stride& stride,
              const PerAxisArgument& padding = 0, const PerAxisArgument& dilation = 1,
              int64_t groups = 1) {
  return conv3d(input, weight, bias,
                ConvParams{PerAxisArgument(stride), padding, dilation, groups});
}
inline Tensor conv3d(const Tensor& input, const Tensor& weight, const Tensor& bias,
                     const PerAxisList& stride, const PerAxisArgument& padding = 0,
                     const PerAxisArgument& dilation = 1, int64_t groups = 1) {
  return conv3d(input, weight, bias,
                ConvParams{PerAxisArgument(stride), padding, dilation, groups});
}
/// @}

/// As above, with a padding by name, see PaddingName in detail/named_padding.h.
/// @{
template <PaddingName Name>
Tensor conv1d(const Tensor& input, const Tensor& weight, const Tensor& bias,
              const PerAxisArgument& stride, const Name& padding,
              const PerAxisArgument& dilation = 1, int64_t groups = 1) {
  return detail::convolve("conv1d", 1, input, weight, bias,
                          {.stride = stride, .dilation = dilation, .groups = groups}, padding);
}
template <PaddingName Name>
Tensor conv2d(const Tensor& input, const Tensor& weight, const Tensor& bias,
              const PerAxisArgument& stride, const Name& padding,
              const PerAxisArgument& dilation = 1, int64_t groups = 1) {
  return detail::convolve("conv2d", 2, input, weight, bias,
                          {.stride = stride, .dilation = dilation, .groups = groups}, padding);
}
template <PaddingName Name>
Tensor conv3d(const Tensor& input, const Tensor& weight, const Tensor& bias,
              const PerAxisArgument& stride, const Name& padding,
              const PerAxisArgument& dilation = 1, int64_t groups = 1) {
  return detail::convolve("conv3d", 3, input, weight, bias,
                          {.stride = stride, .dilation = dilation, .groups = groups}, padding);
}
/// @}

/// Compute conv1d, conv2d or conv3d, by the dims of weight, followed by an activation:
/// UnaryOp::relu, gelu or gelu_tanh. Fused into one kernel if the device supports it and no
/// gradient of gelu is needed. Errors: also Error for any other activation.
AMBIT_API Tensor convolution_map(const Tensor& input, const Tensor& weight, const Tensor& bias,
                                 const ConvParams& params, UnaryOp activation);
/// convolution_map with relu, by libtorch's name and arguments; works on any device.
AMBIT_API Tensor cudnn_convolution_relu(const Tensor& input, const Tensor& weight,
                                        const Tensor& bias, IntArrayRef stride, IntArrayRef padding,
                                        IntArrayRef dilation, int64_t groups);
/// Compute relu(convolution + alpha * z), z of the convolution's sizes; default alpha: 1.
AMBIT_API Tensor cudnn_convolution_add_relu(const Tensor& input, const Tensor& weight,
                                            const Tensor& z, const std::optional<Scalar>& alpha,
                                            const Tensor& bias, IntArrayRef stride,
                                            IntArrayRef padding, IntArrayRef dilation,
                                            int64_t groups);

/// Compute the gradient of a convolution with respect to its input, in any number of dims.
///   out[n,c,h,w] = sum of grad[n,k,i,j] * weight[k,c,r,s] over all k, i, j, r, s that conv2d
///       multiplies input[n,c,h,w] for
/// grad [N,K,P,Q], weight [K,C/groups,R,S] -> out of input_sizes [N,C,H,W]. Gradient: grad, weight.
AMBIT_API Tensor convolution_input_grad(const Tensor& grad, const Tensor& weight,
                                        IntArrayRef input_sizes, const ConvParams& params);
/// Compute the gradient of a convolution with respect to its weight.
///   out[k,c,r,s] = sum of grad[n,k,i,j] * input[n, ...] over all n, i, j, at the element of input
///       that conv2d multiplies by weight[k,c,r,s] for out[n,k,i,j]
/// grad [N,K,P,Q], input [N,C,H,W] -> out of weight_sizes [K,C/groups,R,S]. Gradient: grad, input.
AMBIT_API Tensor convolution_weight_grad(const Tensor& grad, const Tensor& input,
                                         IntArrayRef weight_sizes, const ConvParams& params);

/// Compute a 1-D transposed convolution: like conv_transpose2d, with input [N,C,L] or [C,L] and
/// weight [C,K/groups,R] -> [N,K,P] or [K,P].
AMBIT_API Tensor conv_transpose1d(const Tensor& input, const Tensor& weight,
                                  const Tensor& bias = {}, IntArrayRef stride = 1,
                                  IntArrayRef padding = 0, IntArrayRef output_padding = 0,
                                  int64_t groups = 1, IntArrayRef dilation = 1);
/// Compute a 2-D transposed convolution, which is conv2d's gradient with respect to its input:
///   P = (H - 1) stride - 2 padding + dilation (R - 1) + output_padding + 1, Q likewise of W and S
/// input [N,C,H,W] or [C,H,W], weight [C,K/groups,R,S], bias [K] or undefined -> [N,K,P,Q] or
/// [K,P,Q]. output_padding in [0, max(stride, dilation)) selects one of the sizes that conv2d maps
/// to H. Gradient: input, weight, bias. Source: Dumoulin & Visin 2016, arXiv:1603.07285, section 4.
AMBIT_API Tensor conv_transpose2d(const Tensor& input, const Tensor& weight,
                                  const Tensor& bias = {}, IntArrayRef stride = 1,
                                  IntArrayRef padding = 0, IntArrayRef output_padding = 0,
                                  int64_t groups = 1, IntArrayRef dilation = 1);
/// Compute a 3-D transposed convolution: like conv_transpose2d, with input [N,C,D,H,W] or [C,D,H,W]
/// and weight [C,K/groups,T,R,S] -> [N,K,O,P,Q] or [K,O,P,Q].
AMBIT_API Tensor conv_transpose3d(const Tensor& input, const Tensor& weight,
                                  const Tensor& bias = {}, IntArrayRef stride = 1,
                                  IntArrayRef padding = 0, IntArrayRef output_padding = 0,
                                  int64_t groups = 1, IntArrayRef dilation = 1);

/// Compute any of the six, by the dims of weight and `transposed`. output_padding applies to
/// transposed convolutions only.
AMBIT_API Tensor convolution(const Tensor& input, const Tensor& weight, const Tensor& bias,
                             IntArrayRef stride, IntArrayRef padding, IntArrayRef dilation,
                             bool transposed, IntArrayRef output_padding, int64_t groups);

}  // namespace ambit
