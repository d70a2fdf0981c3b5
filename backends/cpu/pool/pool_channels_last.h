// Max pooling of images that lie channels-last, float32.
#pragma once

#include "pool_windows.h"

namespace ambit::cpu {

/// Whether every window has an element: a dilated one may fall on padding alone.
bool suits_channels_last(const PoolParams& p);

/// y, index [N,P,Q,C], x [N,H,W,C] as they lie; index may be null.
void max_pool_channels_last(const Planes& s, float* y, int32_t* index, const float* x,
                              const PoolParams& p);
/// dx [N,H,W,C], dy, index [N,P,Q,C], each inside of its plane.
void max_pool_grad_channels_last(const Planes& s, float* dx, const float* dy,
                                   const int32_t* index, const PoolParams& p);

}  // namespace ambit::cpu
