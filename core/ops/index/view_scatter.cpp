// Copies of a tensor with a part overwritten: the part is a view of the copy, and the gradients are
// those of the write to this view. Also functions that fill diagonals, which are strided views.
#include <ambit/detail/record.h>
#include <ambit/error.h>
#include <ambit/ops/creation.h>
#include <ambit/ops/index.h>
#include <ambit/ops/shape.h>
#include <fmt/format.h>

#include <algorithm>

#include "core/ops/operands/expect.h"
#include "core/ops/operands/operand_grad.h"
#include "core/ops/shape/part.h"
#include "operands.h"

namespace ambit {
namespace {

// Write src to `part`, a view of out.
Tensor written(const char* op, const Tensor& out, const Tensor& part, const Tensor& src) {
  expect_sizes(op, "src", src, part.sizes());
  part.copy_(src);
  return out;
}

bool is_expanded(const Tensor& t) {
  for (int64_t d = 0; d < t.dim(); ++d) {
    if (t.size(d) > 1 && t.stride(d) == 0) return true;
  }
  return false;
}

// Return a copy of self with the same offset in a copy of its storage; as_strided's offset counts
// the storage's elements. As in PyTorch, an expanded tensor is copied without its storage.
Tensor with_storage(const Tensor& self) {
  const auto elements = static_cast<int64_t>(self.storage().nbytes() / self.itemsize());
  const bool is_whole = self.is_contiguous() && self.numel() == elements;
  if (is_whole || is_expanded(self)) return clone(self);
  const Tensor all = clone(as_strided(self.detach(), {elements}, {1}, 0));
  const Tensor out = as_strided(all, self.sizes(), self.strides(), self.storage_offset());
  if (needs_gradient(self)) out.copy_(self);
  return out;
}

}  // namespace

const Tensor& fill_diagonal_(const Tensor& self, const Scalar& fill_value, bool wrap) {
  expect_defined("fill_diagonal_", "self", self);
  const IntArrayRef sizes = self.sizes();
  const bool cube =
      std::all_of(sizes.begin(), sizes.end(), [&](int64_t size) { return size == sizes[0]; });
  if (sizes.size() < 2 || (sizes.size() > 2 && !cube)) {
    throw ShapeError(fmt::format(
        "fill_diagonal_: expected a matrix, or more dims of one size, got shape {}", str(sizes)));
  }
  check_in_place("fill_diagonal_", self);
  const int64_t height = sizes[0], width = *std::min_element(sizes.begin(), sizes.end());
  int64_t step = 0;
  for (const int64_t stride : self.strides()) step += stride;
  // In a tall matrix a further diagonal starts one row below the end of the previous one.
  const int64_t rows = wrap && sizes.size() == 2 ? height : std::min(height, width);
  for (int64_t row = 0; row < rows && width > 0; row += sizes[1] + 1) {
    as_strided(self, {std::min(height - row, sizes[1])}, {step},
               self.storage_offset() + row * self.stride(0))
        .fill_(fill_value);
  }
  return self;
}

Tensor select_scatter(const Tensor& self, const Tensor& src, int64_t dim, int64_t index) {
  constexpr const char* kOp = "select_scatter";
  check_operands(kOp, {{"self", self}, {"src", src}});
  const Tensor out = clone(self);
  return written(kOp, out, select(out, dim, index), src);
}

Tensor slice_scatter(const Tensor& self, const Tensor& src, int64_t dim,
                     std::optional<int64_t> start, std::optional<int64_t> end, int64_t step) {
  constexpr const char* kOp = "slice_scatter";
  check_operands(kOp, {{"self", self}, {"src", src}});
  const Tensor out = clone(self);
  return written(kOp, out, slice(out, dim, start, end, step), src);
}

Tensor diagonal_scatter(const Tensor& self, const Tensor& src, int64_t offset, int64_t dim1,
                        int64_t dim2) {
  constexpr const char* kOp = "diagonal_scatter";
  check_operands(kOp, {{"self", self}, {"src", src}});
  const Tensor out = clone(self);
  return written(kOp, out, diagonal(kOp, out, offset, dim1, dim2), src);
}

Tensor as_strided_scatter(const Tensor& self, const Tensor& src, IntArrayRef size,
                          IntArrayRef stride, std::optional<int64_t> storage_offset) {
  constexpr const char* kOp = "as_strided_scatter";
  check_operands(kOp, {{"self", self}, {"src", src}});
  const Tensor out = with_storage(self);
  return written(kOp, out, as_strided(out, size, stride, storage_offset), src).contiguous();
}

}  // namespace ambit
