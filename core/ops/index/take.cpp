// Elements by row-major position and by masks.
#include <ambit/detail/record.h>
#include <ambit/error.h>
#include <ambit/ops/creation.h>
#include <ambit/ops/elementwise.h>
#include <ambit/ops/index.h>
#include <ambit/ops/reduce.h>
#include <ambit/ops/shape.h>
#include <fmt/format.h>

#include "core/ops/operands/broadcast.h"
#include "core/ops/operands/expect.h"
#include "index_values.h"
#include "operands.h"

namespace ambit {
namespace {

// Return indices in [-n, n) as indices in [0, n). Values out of range on a device remain so, and
// the kernel reports them.
Tensor from_begin(const char* op, const Tensor& index, int64_t n) {
  check_index_values(op, index, -n, n, 0);
  const NoGradGuard no_grad;
  return where(index < 0, index + n, index);
}

// Return the positions, int64 [n], from 0.
Tensor flat_index(const char* op, const Tensor& self, const Tensor& index) {
  expect_dtype(op, "index", index, kInt64);
  return reshape(from_begin(op, index, self.numel()), {-1});
}

// Return the source flattened.
Tensor flat_source(const char* op, const Tensor& self, const Tensor& index, const Tensor& source) {
  expect_dtype(op, "source", source, self.dtype());
  if (source.numel() != index.numel()) {
    throw ShapeError(fmt::format("{}: expected a source of {} elements, got {}", op, index.numel(),
                                 source.numel()));
  }
  return reshape(source, {-1});
}

void write(const Tensor& flat, const Tensor& index, const Tensor& source, bool accumulate) {
  accumulate ? scatter_add_(flat, 0, index, source) : scatter_(flat, 0, index, source);
}

}  // namespace

Tensor take(const Tensor& self, const Tensor& index) {
  check_operands("take", {{"self", self}, {"index", index}});
  const Tensor places = flat_index("take", self, index);
  return reshape(index_select(reshape(self, {-1}), 0, places), index.sizes());
}

const Tensor& put_(const Tensor& self, const Tensor& index, const Tensor& source, bool accumulate) {
  check_operands("put_", {{"self", self}, {"index", index}, {"source", source}},
                 DeviceRule::in_place);
  const Tensor places = flat_index("put_", self, index);
  const Tensor values = flat_source("put_", self, index, source);
  check_in_place("put_", self);
  if (self.is_contiguous()) {
    write(view(self, {-1}), places, values, accumulate);
    return self;
  }
  const Tensor flat = clone(reshape(self, {-1}));
  write(flat, places, values, accumulate);
  self.copy_(reshape(flat, self.sizes()));
  return self;
}

Tensor put(const Tensor& self, const Tensor& index, const Tensor& source, bool accumulate) {
  check_operands("put", {{"self", self}, {"index", index}, {"source", source}});
  const Tensor places = flat_index("put", self, index);
  const Tensor values = flat_source("put", self, index, source);
  const Tensor flat = clone(reshape(self, {-1}));
  write(flat, places, values, accumulate);
  return reshape(flat, self.sizes());
}

Tensor take_along_dim(const Tensor& self, const Tensor& indices, std::optional<int64_t> dim) {
  constexpr const char* kOp = "take_along_dim";
  check_operands(kOp, {{"self", self}, {"indices", indices}});
  expect_dtype(kOp, "indices", indices, kInt64);
  if (!dim) return gather(reshape(self, {-1}), 0, reshape(indices, {-1}));
  if (self.dim() != indices.dim()) {
    throw ShapeError(fmt::format("{}: expected indices of {} dims, got shape {}", kOp, self.dim(),
                                 str(indices.sizes())));
  }
  const int64_t d = wrap_dim(kOp, *dim, self.dim());
  if (self.dim() == 0) return gather(self, 0, indices);
  const auto at = static_cast<size_t>(d);
  Dims of_self(self.sizes()), of_indices(indices.sizes());
  of_self[at] = of_indices[at] = 1;
  const Dims sizes = broadcast(kOp, of_self, of_indices);
  Dims from(sizes), to(sizes);
  from[at] = self.size(d);
  to[at] = indices.size(d);
  return gather(expand(self, from), d, expand(from_begin(kOp, indices, self.size(d)), to));
}

namespace {

// Return the first elements of source, one for each true element of mask, which has self's shape.
Tensor first_of(const char* op, const Tensor& source, const Tensor& mask) {
  const int64_t n = count_true(mask);
  if (source.numel() < n) {
    throw ShapeError(fmt::format("{}: expected a source of {} elements at least, got {}", op, n,
                                 source.numel()));
  }
  return narrow(reshape(source, {-1}), 0, 0, n);
}

}  // namespace

const Tensor& masked_scatter_(const Tensor& self, const Tensor& mask, const Tensor& source) {
  constexpr const char* kOp = "masked_scatter_";
  check_operands(kOp, {{"self", self}, {"mask", mask}, {"source", source}}, DeviceRule::in_place);
  expect_dtype(kOp, "source", source, self.dtype());
  check_has_data(kOp, self);
  check_broadcasts_to(kOp, mask.sizes(), self.sizes());
  const Tensor chosen = expanded(bool_mask(kOp, mask), self.sizes());
  return index_put_(self, {chosen}, first_of(kOp, source, chosen));
}

Tensor masked_scatter(const Tensor& self, const Tensor& mask, const Tensor& source) {
  constexpr const char* kOp = "masked_scatter";
  check_operands(kOp, {{"self", self}, {"mask", mask}, {"source", source}});
  expect_dtype(kOp, "source", source, self.dtype());
  check_has_data(kOp, self);
  const Dims sizes = broadcast(kOp, self.sizes(), mask.sizes());
  const Tensor out = clone(expand(self, sizes));
  const Tensor chosen = expanded(bool_mask(kOp, mask), sizes);
  return index_put_(out, {chosen}, first_of(kOp, source, chosen));
}

}  // namespace ambit
