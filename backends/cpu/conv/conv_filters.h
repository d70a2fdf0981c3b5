// Convolution of few channels into many filters, float32: vectors hold filters, so that all of each
// counts, and y lies channels-last. For images as conv_packing.h lays them out, without im2col.
#pragma once

#include "conv_sizes.h"

namespace ambit::cpu {

/// Whether there are loops for it: of one group, K a multiple of 16, the window 3 or 5 columns
/// wide, next to each other and moved by one.
bool has_filters_conv(const ConvSizes& g);

// y and dy [N,O,P,Q,K]; everything else is row-major.

/// y = x * w + b; b may be null.
void filters_conv(const ConvSizes& g, float* y, const float* x, const float* w, const float* b);
void filters_conv_weight_grad(const ConvSizes& g, float* dw, const float* dy, const float* x);
/// Return whether there are loops for it, of any K, and it is done: with AVX-512, where a row of
/// the window fills vectors.
bool filters_conv_input_grad(const ConvSizes& g, float* dx, const float* dy, const float* w);

}  // namespace ambit::cpu
