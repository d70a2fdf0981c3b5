// A bias as large as what it is added to.
#pragma once

#include <ambit/backend/alias.h>

namespace ambit::cuda {

/// Return an alias of b [K] with the shape of y [N,K,...]: it repeats along all dims but the
/// second.
inline Tensor repeated(const Tensor& b, const Tensor& y) {
  Dims strides(y.sizes().size(), 0);
  strides[1] = b.stride(0);
  return alias(b, y.sizes(), strides);
}

}  // namespace ambit::cuda
