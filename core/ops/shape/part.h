// Gradients of views of a part of their input: zero outside the part.
#pragma once

#include <ambit/autograd.h>
#include <ambit/detail/record.h>
#include <ambit/error.h>
#include <ambit/ops/creation.h>
#include <ambit/ops/elementwise.h>
#include <fmt/format.h>

#include <utility>

#include "core/ops/operands/expect.h"
#include "core/ops/operands/operand_grad.h"

namespace ambit {

/// Return `dim` as an index of self's sizes. Errors: Error, ShapeError for a 0-dim tensor,
/// IndexError.
inline size_t index_of(const char* op, int64_t dim, const Tensor& self) {
  expect_defined(op, "self", self);
  if (self.dim() == 0) {
    throw ShapeError(fmt::format("{}: expected a tensor with dims, got one without", op));
  }
  return static_cast<size_t>(wrap_dim(op, dim, self.dim()));
}

/// Return zeros of `sizes` with g written to part(out); `part` must return a view without
/// overlapping elements for any tensor t of these sizes. Its gradient is `part` again, so a view
/// can be differentiated any number of times.
template <class Part>
Tensor put_back(const char* op, const Tensor& g, IntArrayRef sizes, Part part) {
  Tensor out = zeros(sizes, g.options());
  {
    const NoGradGuard no_grad;
    part(out).copy_(g);
  }
  return record(op, std::move(out), wrt(g, part));
}

/// Record `out` as part(self).
template <class Part>
Tensor record_part(const char* op, Tensor out, const Tensor& self, Part part) {
  if (!needs_gradient(self)) return out;
  return record(op, std::move(out),
                wrt(self, [op, part, sizes = Dims(self.sizes())](const Tensor& g) {
                  return put_back(op, g, sizes, part);
                }));
}

/// diagonal(self, offset, dim1, dim2) with errors and node named `op`.
Tensor diagonal(const char* op, const Tensor& self, int64_t offset, int64_t dim1, int64_t dim2);

/// Return the offset of the view from index `start` of dim d on; any offset if it is empty.
inline int64_t offset_of(const Tensor& self, size_t d, int64_t start) {
  return self.storage_offset() + (self.numel() == 0 ? 0 : start * self.strides()[d]);
}

}  // namespace ambit
