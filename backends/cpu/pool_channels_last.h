// Max pooling of images that lie channels-last, float32.
#pragma once

#include "pool_windows.h"

namespace ambit::cpu {

/// Whether every window has an element, and positions fit 32 bits.
bool suits_channels_last(const Planes& s, const Pool2dParams& p);

/// y, index [N,P,Q,C], x [N,H,W,C] as they lie.
void max_pool2d_channels_last(const Planes& s, float* y, int64_t* index, const float* x,
                              const Pool2dParams& p);
/// dx [N,H,W,C], dy, index [N,P,Q,C]. Errors: IndexError.
void max_pool2d_grad_channels_last(const Planes& s, float* dx, const float* dy,
                                   const int64_t* index, const Pool2dParams& p);

}  // namespace ambit::cpu
