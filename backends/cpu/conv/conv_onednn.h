// Convolution by oneDNN, float32 and bfloat16, in parts that threads compute (conv_parts.h).
// bfloat16 is accumulated in float32 and rounded once.
#pragma once

#include <ambit/tensor.h>

#include "conv_sizes.h"

namespace ambit::cpu {

// x [N,C,H,W], y [N,K,P,Q] and their gradients are row-major or channels-last, according to their
// strides, as are x [N,C,D,H,W], y [N,K,O,P,Q]; w [K,C/groups,...], b [K] or undefined, and dw are
// contiguous. All have one dtype. The functions return false if oneDNN's implementation is wrong,
// or untuned for bfloat16, or has multiplied infinite or NaN values with padding (conv_padding.h).
// The result is then undefined.
[[nodiscard]] bool onednn_conv(const ConvSizes& g, const Tensor& y, const Tensor& x,
                               const Tensor& w, const Tensor& b);
[[nodiscard]] bool onednn_conv_input_grad(const ConvSizes& g, const Tensor& dx, const Tensor& dy,
                                          const Tensor& w);
[[nodiscard]] bool onednn_conv_weight_grad(const ConvSizes& g, const Tensor& dw, const Tensor& dy,
                                           const Tensor& x);

/// Compute the gradient of x, float32, as a convolution of dy; `forward` is g.as_forward_conv().
[[nodiscard]] bool onednn_conv_input_grad_as_forward(const ConvSizes& forward, const Tensor& dx,
                                                     const Tensor& dy, const Tensor& w);

}  // namespace ambit::cpu
