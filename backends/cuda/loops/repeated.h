// Broadcasts a bias to the shape of a result.
#pragma once

#include <ambit/backend/alias.h>

namespace ambit::cuda {

/// Return b [K] broadcast to the shape of y [N,K,...], with stride 0 along all dims but the second.
inline Tensor repeated(const Tensor& b, const Tensor& y) {
  Dims strides(y.sizes().size(), 0);
  strides[1] = b.stride(0);
  return alias(b, y.sizes(), strides);
}

}  // namespace ambit::cuda
