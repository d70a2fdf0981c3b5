// Ops based on positions of non-zero elements: nonzero, masked_select, one_hot.
#include <ambit/backend/kernels.h>
#include <ambit/error.h>
#include <ambit/ops/creation.h>
#include <ambit/ops/elementwise.h>
#include <ambit/ops/index.h>
#include <ambit/ops/reduce.h>
#include <ambit/ops/shape.h>
#include <fmt/format.h>

#include <algorithm>

#include "core/ops/operands/allocate.h"
#include "core/ops/operands/expect.h"
#include "core/ops/operands/scalar_operand.h"
#include "core/ops/operands/unrecorded.h"
#include "index_values.h"
#include "operands.h"

namespace ambit {

Tensor nonzero(const Tensor& self) {
  expect_defined("nonzero", "self", self);
  check_has_data("nonzero", self);
  const NoGradGuard no_grad;
  // Normalise bool bytes from other libraries: kernels expect 0 or 1.
  const Tensor mask = dense(self.dtype() == kBool ? view(self, kUInt8) != 0 : self.to(kBool));
  const auto n = sum(mask).item<int64_t>();
  Tensor out = allocate("nonzero", {n, self.dim()}, kInt64, self.device());
  if (out.numel() > 0) kernels::nonzero(out, mask);
  return out;
}

Tensor nonzero_static(const Tensor& self, int64_t size, int64_t fill_value) {
  constexpr const char* kOp = "nonzero_static";
  expect_defined(kOp, "self", self);
  if (size < 0) throw ShapeError(fmt::format("{}: expected size >= 0, got {}", kOp, size));
  Tensor out = allocate(kOp, {size, self.dim()}, kInt64, self.device());
  if (self.is_meta()) return out;
  const NoGradGuard no_grad;
  out.fill_(fill_value);
  const Tensor places = nonzero(self);
  const int64_t n = std::min(size, places.size(0));
  out.narrow(0, 0, n).copy_(places.narrow(0, 0, n));
  return out;
}

Tensor argwhere(const Tensor& self) {
  expect_defined("argwhere", "self", self);
  check_has_data("argwhere", self);
  return nonzero(self);
}

namespace {

std::vector<Tensor> places_by_dim(const char* op, const Tensor& self) {
  expect_defined(op, "self", self);
  check_has_data(op, self);
  return unbind(nonzero(self.dim() == 0 ? reshape(self, {1}) : self), 1);
}

}  // namespace

std::vector<Tensor> nonzero_numpy(const Tensor& self) {
  return places_by_dim("nonzero_numpy", self);
}

std::vector<Tensor> where(const Tensor& condition) { return places_by_dim("where", condition); }

Tensor masked_select(const Tensor& self, const Tensor& mask) {
  expect_defined("masked_select", "self", self);
  expect_defined("masked_select", "mask", mask);
  check_devices("masked_select", {{"self", self}, {"mask", mask}});
  const Tensor chosen = bool_mask("masked_select", mask);
  check_has_data("masked_select", self);
  const Dims sizes = broadcast("masked_select", self.sizes(), mask.sizes());
  const Tensor places = nonzero(reshape(expand(chosen, sizes), {-1}));
  return index_select(reshape(expand(self, sizes), {-1}), 0, reshape(places, {-1}));
}

Tensor one_hot(const Tensor& self, int64_t num_classes) {
  expect_dtype("one_hot", "self", self, kInt64);
  if (num_classes < -1 || num_classes == 0) {
    throw ShapeError(fmt::format("one_hot: expected num_classes > 0 or -1, got {}", num_classes));
  }
  if (num_classes == -1) {
    check_has_data("one_hot", self);
    if (self.numel() == 0) {
      throw ShapeError("one_hot: expected num_classes for an empty tensor, got -1");
    }
    const auto last = max(self).item<int64_t>();
    if (last == INT64_MAX) {
      throw ShapeError(fmt::format("one_hot: expected classes below 2^63 - 1, got {}", last));
    }
    num_classes = last + 1;
  }
  check_index_values("one_hot", self, 0, num_classes, 0);
  Dims sizes(self.sizes());
  sizes.push_back(num_classes);
  const Tensor out = zeros(sizes, self.options());
  const Tensor index = unsqueeze(self, -1);
  return out.scatter_(-1, index, expand(scalar_on(1, kInt64, self.device()), index.sizes()));
}

}  // namespace ambit
