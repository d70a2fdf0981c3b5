// A bias as large as what it is added to.
#pragma once

#include <ambit/tensor.h>

namespace ambit::cuda {

/// Return an alias of b [K] with the shape of y [N,K,...]: it repeats along all dims but the
/// second.
inline Tensor repeated(const Tensor& b, const Tensor& y) {
  const TensorImpl& impl = *b.impl();
  Dims strides(y.sizes().size(), 0);
  strides[1] = b.stride(0);
  return Tensor(intrusive_ptr<TensorImpl>(
      new TensorImpl(impl.storage, y.sizes(), strides, impl.offset, impl.dtype)));
}

}  // namespace ambit::cuda
