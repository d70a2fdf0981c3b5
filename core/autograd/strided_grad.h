// Gradients of views by strides, of which several elements may be one in memory.
#pragma once

#include <ambit/tensor.h>

namespace ambit {

/// Where the elements of a tensor are in its storage, in elements.
struct Geometry {
  explicit Geometry(const TensorImpl& t) : sizes(t.sizes), strides(t.strides), offset(t.offset) {}
  Dims sizes, strides;
  int64_t offset;
};

/// Return what the gradient g of the view `to` gives the tensor `from` of the same storage, of
/// from's sizes: what lies at one place is summed, and where `from` overlaps itself, each of its
/// elements takes an equal share. Made of ops that record.
Tensor strided_grad(const Tensor& g, const Geometry& from, const Geometry& to);

}  // namespace ambit
