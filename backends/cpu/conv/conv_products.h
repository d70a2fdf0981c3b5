// Convolution of many channels, float32, as matrix products: the windows of some pixels are copied
// as rows of a matrix ("columns" of im2col) that fits into the cache, and multiplied by the weights
// (product.h). Used where oneDNN has no code for the CPU's vectors.
#pragma once

#include "conv_sizes.h"

namespace ambit::cpu {

/// Return true if convolutions use these products instead of oneDNN: on AArch64, where oneDNN has
/// plain C++ only; elsewhere if AMBIT_CONV_BY_PRODUCTS is set in the environment, for tests.
bool prefers_products();

// All images are channels-last: x [N,D,H,W,C], y [N,O,P,Q,K]; w [K,C,T,R,S]. One group. Sums do not
// depend on the number of threads. Padding is multiplied, so that infinite or NaN values of w (or
// of dy, in the gradient of w) may give NaN there (conv_padding.h). Errors: OutOfMemoryError.

/// y = x * w + b; b may be null.
void products_conv(const ConvSizes& g, float* y, const float* x, const float* w, const float* b);
void products_conv_input_grad(const ConvSizes& g, float* dx, const float* dy, const float* w);
void products_conv_weight_grad(const ConvSizes& g, float* dw, const float* dy, const float* x);

}  // namespace ambit::cpu
