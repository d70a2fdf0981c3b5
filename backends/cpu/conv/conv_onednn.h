// Convolution by oneDNN, float32 and bfloat16: each thread computes parts of it, see conv_parts.h.
// Of bfloat16 it adds up in float32 and rounds each result once.
#pragma once

#include <ambit/tensor.h>

#include "conv_sizes.h"

namespace ambit::cpu {

// x [N,C,H,W], y [N,K,P,Q] and their gradients lie row-major or channels-last, by their strides, as
// do x [N,C,D,H,W], y [N,K,O,P,Q]; w [K,C/groups,...], b [K] or undefined, and dw are contiguous.
// All are of one dtype. They return false, and the result is not yet computed, where oneDNN's loops
// for such a convolution are wrong, or of bfloat16 plain ones, or where they multiply what is not
// finite with padding (conv_padding.h).
[[nodiscard]] bool onednn_conv(const ConvSizes& g, const Tensor& y, const Tensor& x,
                               const Tensor& w, const Tensor& b);
[[nodiscard]] bool onednn_conv_input_grad(const ConvSizes& g, const Tensor& dx, const Tensor& dy,
                                          const Tensor& w);
[[nodiscard]] bool onednn_conv_weight_grad(const ConvSizes& g, const Tensor& dw, const Tensor& dy,
                                           const Tensor& x);

/// The gradient of x, float32, as a convolution of that of y: g.turned_round() is `turned`.
[[nodiscard]] bool onednn_conv_turned_round(const ConvSizes& turned, const Tensor& dx,
                                            const Tensor& dy, const Tensor& w);

}  // namespace ambit::cpu
