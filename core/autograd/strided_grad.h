// Gradients of strided views, whose elements may overlap in memory.
#pragma once

#include <ambit/tensor.h>

namespace ambit {

/// Positions of a tensor's elements in its storage, in elements.
struct Geometry {
  explicit Geometry(const TensorImpl& t)
      : sizes(t.sizes), strides(t.strides), offset(t.offset), dtype(t.dtype) {}
  Dims sizes, strides;
  int64_t offset;
  DType dtype;
};

/// Convert the gradient g of the view `to` into that of the tensor `from` of the same storage:
/// gradients of one memory position are summed, and if `from` overlaps itself, its elements there
/// share the sum equally. Uses recorded ops.
Tensor strided_grad(const Tensor& g, const Geometry& from, const Geometry& to);

}  // namespace ambit
