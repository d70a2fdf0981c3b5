// Binary search in sorted rows.
#include <ambit/backend/kernels.h>
#include <ambit/error.h>
#include <ambit/ops/creation.h>
#include <ambit/ops/elementwise.h>
#include <ambit/ops/index.h>
#include <ambit/ops/shape.h>
#include <ambit/ops/sort.h>
#include <fmt/format.h>

#include "core/ops/operands/allocate.h"
#include "core/ops/operands/expect.h"
#include "core/ops/operands/unrecorded.h"

namespace ambit {
namespace {

// True if `side` or `right` requests the right side.
bool to_the_right(bool right, std::optional<std::string_view> side) {
  if (!side) return right;
  if (*side != "left" && *side != "right") {
    throw Error(fmt::format("searchsorted: expected side left or right, got \"{}\"", *side));
  }
  if (*side == "left" && right) {
    throw Error("searchsorted: expected side and right to agree, got left and true");
  }
  return *side == "right";
}

void check_shapes(const char* op, const Tensor& sorted, const Tensor& self) {
  bool fits = sorted.dim() == 1 || (sorted.dim() > 1 && sorted.dim() == self.dim());
  for (int64_t d = 0; fits && sorted.dim() > 1 && d + 1 < sorted.dim(); ++d) {
    fits = sorted.size(d) == self.size(d);
  }
  if (fits) return;
  throw ShapeError(fmt::format(
      "{}: expected a sorted sequence of 1 dim, or with the leading dims of {}, got shape {}", op,
      str(self.sizes()), str(sorted.sizes())));
}

// Operands of two dtypes are compared in the promoted dtype.
Tensor search(const char* op, const Tensor& given, const Tensor& values, bool out_int32,
              bool right) {
  expect_defined(op, "sorted", given);
  expect_defined(op, "self", values);
  const DType dtype = given.dtype() == values.dtype() ? given.dtype() : result_type(given, values);
  const Tensor sorted = given.to(dtype), self = values.to(dtype);
  expect_numbers(op, self);
  check_shapes(op, sorted, self);
  const int64_t n = sorted.size(-1);
  if (out_int32 && n > INT32_MAX) {
    throw ShapeError(fmt::format("{}: expected positions below 2^31 for int32, got {}", op, n));
  }
  Tensor out = allocate(op, self.sizes(), kInt64, self.device());
  if (out.numel() > 0) {
    const NoGradGuard no_grad;
    const Tensor rows = reshape(
        dense(sorted), {sorted.dim() == 1 ? 1 : sorted.numel() / std::max<int64_t>(n, 1), n});
    const int64_t count = n == 0 ? 1 : rows.size(0);
    const Tensor x = reshape(dense(self), {count, self.numel() / count});
    Tensor index = alias(out, x.sizes());
    kernels::searchsorted(index, n == 0 ? reshape(rows, {1, 0}) : rows, x, right);
  }
  return out_int32 ? out.to(kInt32) : out;
}

// Convert a number to a tensor; a float converts integer boundaries to floats.
Tensor scalar_like(const char* op, const Scalar& number, Tensor& sorted) {
  expect_defined(op, "sorted_sequence", sorted);
  const DType dtype = result_type(sorted, number);
  sorted = sorted.to(dtype);
  return scalar_tensor(number, sorted.options());
}

}  // namespace

Tensor searchsorted(const Tensor& sorted_sequence, const Tensor& self, bool out_int32, bool right,
                    std::optional<std::string_view> side, const Tensor& sorter) {
  constexpr const char* kOp = "searchsorted";
  expect_defined(kOp, "sorted_sequence", sorted_sequence);
  expect_defined(kOp, "self", self);
  check_devices(kOp, {{"sorted_sequence", sorted_sequence}, {"self", self}, {"sorter", sorter}});
  right = to_the_right(right, side);
  if (sorted_sequence.dim() == 0) {
    throw ShapeError("searchsorted: expected a sorted sequence with dims, got a 0-dim tensor");
  }
  if (!sorter.defined()) return search(kOp, sorted_sequence, self, out_int32, right);
  expect_dtype(kOp, "sorter", sorter, kInt64);
  expect_sizes(kOp, "sorter", sorter, sorted_sequence.sizes());
  const NoGradGuard no_grad;
  return search(kOp, gather(sorted_sequence, -1, sorter), self, out_int32, right);
}

Tensor searchsorted(const Tensor& sorted_sequence, const Scalar& self, bool out_int32, bool right,
                    std::optional<std::string_view> side, const Tensor& sorter) {
  check_devices("searchsorted", {{"sorted_sequence", sorted_sequence}, {"sorter", sorter}});
  Tensor sorted = sorted_sequence;
  const Tensor number = scalar_like("searchsorted", self, sorted);
  return searchsorted(sorted, number, out_int32, right, side, sorter);
}

Tensor bucketize(const Tensor& self, const Tensor& boundaries, bool out_int32, bool right) {
  expect_defined("bucketize", "self", self);
  check_devices("bucketize", {{"self", self}, {"boundaries", boundaries}});
  expect_dim("bucketize", "boundaries", boundaries, 1, "1-D");
  return search("bucketize", boundaries, self, out_int32, right);
}

Tensor bucketize(const Scalar& self, const Tensor& boundaries, bool out_int32, bool right) {
  Tensor sorted = boundaries;
  const Tensor number = scalar_like("bucketize", self, sorted);
  return bucketize(number, sorted, out_int32, right);
}

}  // namespace ambit
