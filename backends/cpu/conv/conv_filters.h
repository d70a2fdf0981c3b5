// Convolution of few channels into many filters, float32: vectors hold filters, so that all lanes
// are used, and y is channels-last. Images are packed as in conv_packing.h, without im2col.
#pragma once

#include "conv_sizes.h"

namespace ambit::cpu {

/// Return true if the convolution is supported: one group, K a multiple of 16, windows 3 or 5
/// columns wide with stride and dilation 1.
bool has_filters_conv(const ConvSizes& g);

// y and dy are [N,O,P,Q,K]; all other operands are row-major.

/// y = x * w + b; b may be null.
void filters_conv(const ConvSizes& g, float* y, const float* x, const float* w, const float* b);
void filters_conv_weight_grad(const ConvSizes& g, float* dw, const float* dy, const float* x);
/// Return true if the convolution is supported, with any K, and has been computed: requires AVX-512
/// and window rows that fill vectors.
bool filters_conv_input_grad(const ConvSizes& g, float* dx, const float* dy, const float* w);

}  // namespace ambit::cpu
