// 2-D convolution and its gradients.
#pragma once

#include <ambit/params.h>
#include <ambit/tensor.h>

namespace ambit {

/// Compute a 2-D cross-correlation (the "convolution" of deep learning).
///   out[n,k,i,j] = bias[k] + sum over c,r,s of input[n, c, i*stride + r*dilation - padding, ...] *
///   weight[k,c,r,s]
/// input [N,C,H,W] (or [C,H,W]), weight [K,C/groups,R,S], bias [K] or undefined -> out [N,K,P,Q];
/// floating point; stride, padding, dilation in elements (h, w).
/// Errors: ShapeError, DTypeError, DeviceMismatchError. Gradient: input, weight, bias.
/// Source: Dumoulin & Visin 2016, arXiv:1603.07285, section 2.
///   conv2d(x, w, b, {.stride = {2, 2}, .padding = {1, 1}})
AMBIT_API Tensor conv2d(const Tensor& input, const Tensor& weight, const Tensor& bias = {},
                        const Conv2dParams& params = {});
/// Gradient of conv2d: of input_sizes [N,C,H,W] from grad [N,K,P,Q] and weight. Gradient: grad,
/// weight.
AMBIT_API Tensor conv2d_input_grad(const Tensor& grad, const Tensor& weight,
                                   IntArrayRef input_sizes, const Conv2dParams& params);
/// Gradient of conv2d: of weight_sizes [K,C/groups,R,S] from grad [N,K,P,Q] and input. Gradient:
/// grad, input.
AMBIT_API Tensor conv2d_weight_grad(const Tensor& grad, const Tensor& input,
                                    IntArrayRef weight_sizes, const Conv2dParams& params);

}  // namespace ambit
