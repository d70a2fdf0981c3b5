// Products of matrices. All use one kernel, y [B,M,N] = a [B,M,K] b [B,K,N] with any strides; this
// file only prepares the geometry of operands.
#include <ambit/ops/matmul.h>

#include <ambit/backend/alias.h>
#include <ambit/backend/kernels.h>
#include <ambit/detail/autocast.h>
#include <ambit/detail/record.h>
#include <ambit/error.h>
#include <ambit/ops/complex.h>
#include <ambit/ops/elementwise.h>
#include <ambit/ops/shape.h>
#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "core/ops/composite.h"
#include "core/ops/operands/allocate.h"
#include "core/ops/operands/broadcast.h"
#include "core/ops/operands/expect.h"
#include "core/ops/operands/operand_grad.h"
#include "core/ops/operands/unrecorded.h"
#include "rows.h"

namespace ambit {
namespace {

[[noreturn]] void throw_inner(const char* op, const Tensor& a, const Tensor& b) {
  throw ShapeError(fmt::format("{}: expected inner sizes that agree, got {} and {}", op,
                               str(a.sizes()), str(b.sizes())));
}

// The last two dims as a matrix: rows, columns and their strides. A vector on the left is a row, on
// the right a column.
struct Matrix {
  Matrix(const Tensor& t, bool left) {
    const IntArrayRef sizes = t.sizes(), strides = t.strides();
    const size_t n = sizes.size();
    if (n == 1) {
      rows = left ? 1 : sizes[0];
      columns = left ? sizes[0] : 1;
      (left ? column_stride : row_stride) = strides[0];
    } else {
      rows = sizes[n - 2], columns = sizes[n - 1];
      row_stride = strides[n - 2], column_stride = strides[n - 1];
    }
  }
  int64_t rows, columns, row_stride = 0, column_stride = 0;
};

IntArrayRef batch_sizes(const Tensor& t) {
  return {t.sizes().data(), static_cast<size_t>(std::max<int64_t>(t.dim() - 2, 0))};
}

// View t as [1, all rows, K]: for a product with a single matrix the batch is merged into the rows.
Tensor fold_rows(const Tensor& t, const Matrix& m) {
  if (t.dim() <= 2) return alias(t, {1, m.rows, m.columns}, {0, m.row_stride, m.column_stride});
  return alias(dense(t), {1, row_count(t.sizes()), m.columns});
}

// View t as [B, rows, columns], with B the product of `batch`; broadcast dims have stride 0.
Tensor fold_batch(const Tensor& t, const Matrix& m, const Dims& batch, int64_t b) {
  const IntArrayRef own = batch_sizes(t);
  const Dims sizes{b, m.rows, m.columns};
  if (own == IntArrayRef(batch)) {
    if (own.size() > 1) return alias(dense(t), sizes);
    return alias(t, sizes, {t.strides()[0], m.row_stride, m.column_stride});
  }
  if (std::all_of(own.begin(), own.end(), [](int64_t n) { return n == 1; })) {
    return alias(t, sizes, {0, m.row_stride, m.column_stride});
  }
  Dims full = batch;
  full.push_back(t.size(-2));
  full.push_back(t.size(-1));
  return alias(dense(expanded(t, full)), sizes);
}

Tensor self_grad(const Tensor& g, const Tensor& other, IntArrayRef sizes) {
  if (other.dim() == 1) return matmul(unsqueeze(g, -1), unsqueeze(other, 0));
  if (sizes.size() == 1) {
    return reshape(sum_to(matmul(unsqueeze(g, -2), transpose(other, -2, -1)), {1, sizes[0]}),
                   sizes);
  }
  return sum_to(matmul(g, transpose(other, -2, -1)), sizes);
}

Tensor other_grad(const Tensor& g, const Tensor& self, IntArrayRef sizes) {
  if (sizes.size() <= 2) {  // one matrix for the whole batch: the product sums over the batch
    const int64_t k = sizes[0];
    const int64_t rows = row_count(self.sizes());
    const Tensor columns = t(reshape(self, {rows, k}));
    return matmul(columns, reshape(g, sizes.size() == 1 ? Dims{rows} : Dims{rows, sizes[1]}));
  }
  if (self.dim() == 1) return sum_to(matmul(unsqueeze(self, -1), unsqueeze(g, -2)), sizes);
  return sum_to(matmul(transpose(self, -2, -1), g), sizes);
}

// matmul under the name of the calling public op.
Tensor product(const char* op, const Tensor& self, const Tensor& other) {
  AMBIT_AUTOCAST_AS("matmul", std::bind_front(product, op), self, other)
  expect_same_dtype(op, self, other);
  expect_numbers(op, self);
  if (self.dim() == 0 || other.dim() == 0) throw_inner(op, self, other);
  const Matrix a(self, true), b(other, false);
  if (a.columns != b.rows) throw_inner(op, self, other);

  const bool one_matrix = other.dim() <= 2;
  Dims sizes =
      one_matrix ? Dims(batch_sizes(self)) : broadcast(op, batch_sizes(self), batch_sizes(other));
  Tensor x, w;
  if (one_matrix) {
    x = fold_rows(self, a);
    w = alias(other, {1, b.rows, b.columns}, {0, b.row_stride, b.column_stride});
  } else {
    const int64_t n = count(op, sizes);
    x = fold_batch(self, a, sizes, n);
    w = fold_batch(other, b, sizes, n);
  }
  if (self.dim() > 1) sizes.push_back(a.rows);
  if (other.dim() > 1) sizes.push_back(b.columns);

  Tensor out = allocate(op, {x.sizes()[0], x.sizes()[1], b.columns}, self.dtype(), self.device());
  kernels::matmul(out, x, w);
  set_sizes(out, sizes);
  return record(op, std::move(out),
                wrt(self, [w = saved(other), s = Dims(self.sizes())](
                              const Tensor& g) { return self_grad(g, conj(w()), s); }),
                wrt(other, [x = saved(self), s = Dims(other.sizes())](const Tensor& g) {
                  return other_grad(g, conj(x()), s);
                }));
}

}  // namespace

Tensor matmul(const Tensor& self, const Tensor& other) {
  check_devices("matmul", {{"self", self}, {"other", other}});
  return product("matmul", self, other);
}

Tensor mm(const Tensor& self, const Tensor& mat2) {
  check_devices("mm", {{"self", self}, {"mat2", mat2}});
  expect_dim("mm", "self", self, 2, "a matrix");
  expect_dim("mm", "mat2", mat2, 2, "a matrix");
  return product("mm", self, mat2);
}

Tensor bmm(const Tensor& self, const Tensor& mat2) {
  check_devices("bmm", {{"self", self}, {"mat2", mat2}});
  expect_dim("bmm", "self", self, 3, "a batch of matrices");
  expect_dim("bmm", "mat2", mat2, 3, "a batch of matrices");
  if (self.size(0) != mat2.size(0)) {
    throw ShapeError(fmt::format("bmm: expected batches of one size, got {} and {}",
                                 str(self.sizes()), str(mat2.sizes())));
  }
  return product("bmm", self, mat2);
}

Tensor mv(const Tensor& self, const Tensor& vec) {
  check_devices("mv", {{"self", self}, {"vec", vec}});
  expect_dim("mv", "self", self, 2, "a matrix");
  expect_dim("mv", "vec", vec, 1, "a vector");
  return product("mv", self, vec);
}

Tensor dot(const Tensor& self, const Tensor& other) {
  AMBIT_AUTOCAST(dot, self, other)
  check_devices("dot", {{"self", self}, {"other", other}});
  expect_dim("dot", "self", self, 1, "a vector");
  expect_dim("dot", "other", other, 1, "a vector");
  return product("dot", self, other);
}

Tensor vdot(const Tensor& self, const Tensor& other) {
  AMBIT_AUTOCAST(vdot, self, other)
  check_devices("vdot", {{"self", self}, {"other", other}});
  expect_dim("vdot", "self", self, 1, "a vector");
  expect_dim("vdot", "other", other, 1, "a vector");
  return product("vdot", conj(self), other);
}

Tensor inner(const Tensor& self, const Tensor& other) {
  check_devices("inner", {{"self", self}, {"other", other}});
  expect_same_dtype("inner", self, other);
  if (self.dim() == 0 || other.dim() == 0) return mul(self, other);
  expect_numbers("inner", self);
  const int64_t k = self.sizes().back();
  if (k != other.sizes().back()) throw_inner("inner", self, other);
  if (other.dim() <= 2) return product("inner", self, t(other));
  Dims sizes(IntArrayRef(self.sizes().data(), self.sizes().size() - 1));
  for (size_t i = 0; i + 1 < other.sizes().size(); ++i) sizes.push_back(other.sizes()[i]);
  return view(product("inner", self, t(reshape(other, {row_count(other.sizes()), k}))), sizes);
}

}  // namespace ambit
