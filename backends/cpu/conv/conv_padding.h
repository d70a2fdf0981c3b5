// Some convolution kernels multiply padding zeros by weights or gradients, which gives NaN if those
// are infinite or NaN, although padding should contribute nothing. These functions detect that.
// Weights are infinite or NaN only after training has failed: the reference kernel is fast enough.
// Gradients are often infinite while GradScaler searches for a scale, so
// convolution_weight_grad_by_taps() computes these cases faster.
#pragma once

#include <ambit/params.h>
#include <ambit/tensor.h>

#include "conv_sizes.h"

namespace ambit::cpu {

/// Return true if there is padding and `factor`, by which its zeros are multiplied, has an infinite
/// or NaN element. A tensor of a reduced floating-point type must be bfloat16, here and below.
bool spoils_padding(const ConvSizes& g, const Tensor& factor);
/// Return true if `factor`, by which zeros were multiplied, has an infinite or NaN element. The
/// `result` then has NaN: it is scanned first if it is smaller.
bool has_spoiled_zeros(const Tensor& factor, const Tensor& result);
/// As above, if there is padding; otherwise false.
bool has_spoiled_padding(const ConvSizes& g, const Tensor& factor, const Tensor& result);

/// Compute the gradient of the weights tap by tap, each as a convolution without padding over the
/// elements that the tap uses.
void convolution_weight_grad_by_taps(Tensor& dw, const Tensor& dy, const Tensor& x,
                                     const ConvParams& p);

}  // namespace ambit::cpu
