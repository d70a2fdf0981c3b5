// Convolution by oneDNN, float32: each thread computes parts of it, see conv_parts.h.
#pragma once

#include <ambit/tensor.h>

#include "conv_sizes.h"

namespace ambit::cpu {

// x [N,C,H,W], y [N,K,P,Q] and their gradients lie row-major or channels-last, by their strides, as
// do x [N,C,D,H,W], y [N,K,O,P,Q]; w [K,C/groups,...], b [K] or undefined, and dw are contiguous.
void onednn_conv(const ConvSizes& g, const Tensor& y, const Tensor& x, const Tensor& w,
                 const Tensor& b);
void onednn_conv_input_grad(const ConvSizes& g, const Tensor& dx, const Tensor& dy,
                            const Tensor& w);
void onednn_conv_weight_grad(const ConvSizes& g, const Tensor& dw, const Tensor& dy,
                             const Tensor& x);

}  // namespace ambit::cpu
