// Index spaces of the indexing kernels: an index broadcast to a shape, whose elements are positions
// along one dim of a tensor.
#pragma once

#include <ambit/tensor.h>

#include "backends/cuda/driver/fault.h"
#include "strided.h"

namespace ambit::cuda {

/// Element i of the index refers to the element at offset[i] + index[i] * step of the indexed
/// tensor, if index[i] is in [0, bound).
struct Along {
  int64_t bound, step;

  /// Return true if the index is valid; otherwise report it.
  AMBIT_HOST_DEVICE bool holds(int64_t index, const FaultSink& faults) const {
    if (index >= 0 && index < bound) return true;
    faults.report(FaultKind::index, index, bound);
    return false;
  }
};

inline Along along(const Tensor& t, int64_t dim) {
  return t.dim() == 0 ? Along{1, 0} : Along{t.size(dim), t.stride(dim)};
}

/// Return the strides of the indexed tensor, with 0 for dim.
inline Dims strides_but(const Tensor& t, int64_t dim) {
  Dims result = t.strides();
  if (!result.empty()) result[static_cast<size_t>(dim)] = 0;
  return result;
}

/// Return the strides of an index [n] along `dim`, broadcast along all other dims of `shape`.
inline Dims row_strides(const Tensor& index, const Tensor& shape, int64_t dim) {
  Dims strides(shape.sizes().size(), 0);
  if (!strides.empty()) strides[static_cast<size_t>(dim)] = index.dim() == 0 ? 0 : index.stride(0);
  return strides;
}

/// Return the walk of (other, index, indexed) over `sizes`.
inline Walk<3> places(IntArrayRef sizes, IntArrayRef other, IntArrayRef index,
                      IntArrayRef indexed) {
  return collapsed<3>(sizes, {other, index, indexed});
}

}  // namespace ambit::cuda
