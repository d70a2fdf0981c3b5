// Whole slices by index: index_select, and embedding, an index_select of rows.
#include <ambit/backend/kernels.h>
#include <ambit/detail/record.h>
#include <ambit/error.h>
#include <ambit/ops/creation.h>
#include <ambit/ops/elementwise.h>
#include <ambit/ops/index.h>
#include <ambit/ops/shape.h>
#include <fmt/format.h>

#include "core/ops/operands/allocate.h"
#include "core/ops/operands/expect.h"
#include "core/ops/operands/operand_grad.h"
#include "core/ops/operands/unrecorded.h"
#include "index_values.h"
#include "operands.h"

namespace ambit {
namespace {

// Return zeros of `sizes` with the slices of g added at `index` of dim: index_select's gradient.
Tensor index_select_grad(const Tensor& g, IntArrayRef sizes, int64_t dim, const Tensor& index) {
  Tensor out = zeros(sizes, g.options());
  if (g.numel() > 0) {
    Tensor y = at_least_1d(out);
    kernels::index_add(y, index, at_least_1d(g), dim);
  }
  if (!needs_gradient(g)) return out;
  return record(
      "index_select_grad", std::move(out),
      wrt(g, [dim, i = saved(index)](const Tensor& gg) { return index_select(gg, dim, i()); }));
}

}  // namespace

Tensor index_select(const Tensor& self, int64_t dim, const Tensor& index) {
  expect_defined("index_select", "self", self);
  expect_defined("index_select", "index", index);
  check_devices("index_select", {{"self", self}, {"index", index}});
  if (index.dim() > 1 || (self.dim() == 0 && index.numel() != 1)) {
    throw ShapeError(fmt::format("index_select: expected a 1-dim index{}, got shape {}",
                                 self.dim() == 0 ? " of one element" : "", str(index.sizes())));
  }
  const int64_t d = wrap_dim("index_select", dim, self.dim());
  const Tensor rows = row_index("index_select", index);
  Dims sizes(self.sizes());
  if (self.dim() > 0) sizes[static_cast<size_t>(d)] = rows.numel();
  Tensor out = allocate("index_select", sizes, self.dtype(), self.device());
  if (out.numel() > 0) {
    Tensor y = at_least_1d(out);
    kernels::index_select(y, at_least_1d(self), rows, d);
  } else if (self.dim() > 0) {  // nothing to copy, but the index may be invalid
    check_index_values("index_select", rows, 0, self.size(d), d);
  }
  if (!needs_gradient(self)) return out;
  return record("index_select", std::move(out),
                wrt(self, [d, i = saved(rows), before = Dims(self.sizes())](const Tensor& g) {
                  return index_select_grad(g, before, d, i());
                }));
}

Tensor embedding(const Tensor& weight, const Tensor& indices, int64_t padding_idx) {
  expect_defined("embedding", "weight", weight);
  expect_defined("embedding", "indices", indices);
  check_devices("embedding", {{"weight", weight}, {"indices", indices}});
  Tensor rows;
  naming("weight", weight, [&] {
    rows = row_index("embedding", indices);
    expect_dim("embedding", "weight", weight, 2, "2-D");
  });
  const int64_t count = weight.size(0), width = weight.size(1);
  if (padding_idx >= count) {
    throw IndexError(
        fmt::format("embedding: expected padding_idx < {}, got {}", count, padding_idx));
  }
  check_index_values("embedding", rows, 0, count, 0);
  Tensor out = allocate("embedding", {rows.numel(), width}, weight.dtype(), weight.device());
  if (out.numel() > 0) kernels::index_select(out, weight, rows, 0);
  Dims sizes(indices.sizes());
  sizes.push_back(width);
  set_sizes(out, sizes);
  if (!needs_gradient(weight)) return out;
  return record("embedding", std::move(out),
                wrt(weight, [i = saved(rows), count, width, padding_idx](const Tensor& g) {
                  Tensor per_row = reshape(g, {i().numel(), width});
                  if (padding_idx >= 0) {
                    per_row = masked_fill(per_row, unsqueeze(i() == padding_idx, 1), 0);
                  }
                  return index_select_grad(per_row, {count, width}, 0, i());
                }));
}

}  // namespace ambit
