// Some convolutions read zeros in the place of padding. Those make NaN of a factor that is not
// finite, weights or slopes, though nothing is there to multiply it with. Here is how to notice
// that. Weights are not finite when training has failed: the reference's loops are quick enough for
// them. Slopes are while GradScaler looks for a scale: for them there is a way without padding.
#pragma once

#include <ambit/params.h>
#include <ambit/tensor.h>

#include "conv_sizes.h"

namespace ambit::cpu {

/// Whether there is padding, and an element of `factor`, which zeros in its place are multiplied
/// with, is infinite or NaN. Floats of 16 bits are bfloat16.
bool spoils_padding(const ConvSizes& g, const Tensor& factor);
/// The same where `result` is there, which then has NaN: it reads the smaller of both first.
bool has_spoiled_padding(const ConvSizes& g, const Tensor& factor, const Tensor& result);

/// The gradient of the weights, by a convolution without padding for each tap, of the elements that
/// the tap has.
void convolution_weight_grad_by_taps(Tensor& dw, const Tensor& dy, const Tensor& x,
                                     const ConvParams& p);

}  // namespace ambit::cpu
