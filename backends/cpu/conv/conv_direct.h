// Our own convolution kernels: for float64, which oneDNN lacks, and for float32 with few channels,
// where they are faster. They do not use im2col: see conv_packing.h.
#pragma once

#include "backends/cpu/elementwise/inner_loops.h"
#include "conv_sizes.h"

namespace ambit::cpu {

/// y = map(x * w + b); b and map may be null.
template <class T>
void direct_conv(const ConvSizes& g, T* y, const T* x, const T* w, const T* b, UnaryLoop map);
/// dy is row-major or channels-last.
template <class T>
void direct_conv_input_grad(const ConvSizes& g, T* dx, const T* dy, bool channels_last, const T* w);
template <class T>
void direct_conv_weight_grad(const ConvSizes& g, T* dw, const T* dy, const T* x);

}  // namespace ambit::cpu
