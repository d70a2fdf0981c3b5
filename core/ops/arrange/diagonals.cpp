// Matrices with a given diagonal, and triangles of matrices.
#include <ambit/detail/record.h>
#include <ambit/error.h>
#include <ambit/ops/arrange.h>
#include <ambit/ops/creation.h>
#include <ambit/ops/elementwise.h>
#include <ambit/ops/shape.h>
#include <fmt/format.h>

#include <algorithm>

#include "core/ops/operands/expect.h"
#include "core/ops/shape/part.h"

namespace ambit {
namespace {

Tensor embedded(const char* op, const Tensor& self, int64_t offset, int64_t dim1, int64_t dim2) {
  expect_defined(op, "self", self);
  if (self.dim() == 0) {
    throw ShapeError(fmt::format("{}: expected a tensor with dims, got one without", op));
  }
  const auto a = static_cast<size_t>(wrap_dim(op, dim1, self.dim() + 1));
  const auto b = static_cast<size_t>(wrap_dim(op, dim2, self.dim() + 1));
  if (a == b) {
    throw ShapeError(fmt::format("{}: expected two different dims, got {} and {}", op, dim1, dim2));
  }
  Dims sizes(self.sizes());
  int64_t size = sizes.back(), distance = offset;
  if ((offset < 0 && __builtin_sub_overflow(0, offset, &distance)) ||
      __builtin_add_overflow(size, distance, &size)) {
    throw ShapeError(fmt::format("{}: expected a size below 2^63, got offset {}", op, offset));
  }
  sizes.erase(sizes.size() - 1);
  sizes.insert(std::min(a, b), size);
  sizes.insert(std::max(a, b), size);
  return put_back(op, self, sizes, [=](const Tensor& t) {
    return diagonal(t, offset, static_cast<int64_t>(a), static_cast<int64_t>(b));
  });
}

Tensor diag(const char* op, const Tensor& self, int64_t offset) {
  if (self.dim() == 1) return embedded(op, self, offset, 0, 1);
  if (self.dim() == 2) return clone(diagonal(self, offset));
  throw ShapeError(
      fmt::format("{}: expected a vector or a matrix, got shape {}", op, str(self.sizes())));
}

enum class Triangle : uint8_t { lower, upper };

// Return a mask of self's last two sizes that is true outside the kept triangle.
Tensor outside(const char* op, const Tensor& self, int64_t offset, Triangle kept) {
  expect_defined(op, "self", self);
  if (self.dim() < 2) {
    throw ShapeError(fmt::format("{}: expected matrices, got shape {}", op, str(self.sizes())));
  }
  const int64_t m = self.size(-2), n = self.size(-1);
  const TensorOptions options = TensorOptions(kInt64).device(self.device());
  const int64_t shift = std::clamp(offset, -m - 1, n + 1);
  const Tensor row = unsqueeze(arange(shift, shift + m, 1, options), 1);
  const Tensor column = arange(0, n, 1, options);
  return kept == Triangle::lower ? lt(row, column) : gt(row, column);
}

Tensor triangle(const char* op, const Tensor& self, int64_t offset, Triangle kept) {
  const Tensor gone = outside(op, self, offset, kept);
  const auto cut = [&] {
    const NoGradGuard no_grad;
    return masked_fill(self, gone, 0);
  };
  return record(op, cut(),
                wrt(self, [=](const Tensor& g) { return triangle(op, g, offset, kept); }));
}

const Tensor& keep_triangle(const char* op, const Tensor& self, int64_t offset, Triangle kept) {
  const Tensor gone = outside(op, self, offset, kept);
  check_in_place(op, self);
  {
    const NoGradGuard no_grad;
    masked_fill_(self, gone, 0);
  }
  record_in_place(op, self, wrt(self, [=](const Tensor& g) {
                    return triangle(kept == Triangle::lower ? "tril" : "triu", g, offset, kept);
                  }));
  return self;
}

}  // namespace

Tensor diag(const Tensor& self, int64_t diagonal) {
  expect_defined("diag", "self", self);
  return diag("diag", self, diagonal);
}

Tensor diag_embed(const Tensor& self, int64_t offset, int64_t dim1, int64_t dim2) {
  return embedded("diag_embed", self, offset, dim1, dim2);
}

Tensor diagflat(const Tensor& self, int64_t offset) {
  expect_defined("diagflat", "self", self);
  return diag("diagflat", reshape(self, -1), offset);
}

Tensor tril(const Tensor& self, int64_t diagonal) {
  return triangle("tril", self, diagonal, Triangle::lower);
}

Tensor triu(const Tensor& self, int64_t diagonal) {
  return triangle("triu", self, diagonal, Triangle::upper);
}

const Tensor& tril_(const Tensor& self, int64_t diagonal) {
  return keep_triangle("tril_", self, diagonal, Triangle::lower);
}

const Tensor& triu_(const Tensor& self, int64_t diagonal) {
  return keep_triangle("triu_", self, diagonal, Triangle::upper);
}

}  // namespace ambit
