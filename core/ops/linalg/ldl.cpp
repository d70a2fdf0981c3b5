// LDL factorisation of symmetric matrices, on the host: A = P L D L^T P^T, with blocks of one or
// two rows in D. Source: Bunch & Kaufman 1977, Math. Comp. 31:163-179; steps and pivots are those
// of LAPACK's sytf2 and sytrs.
#include <ambit/autograd.h>
#include <ambit/backend/op.h>
#include <ambit/detail/by_float32.h>
#include <ambit/detail/record.h>
#include <ambit/error.h>
#include <ambit/ops/creation.h>
#include <ambit/ops/linalg.h>
#include <ambit/ops/shape.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <utility>
#include <vector>

#include "core/ops/operands/allocate.h"
#include "core/ops/operands/broadcast.h"
#include "core/ops/operands/expect.h"
#include "core/ops/operands/operand_grad.h"
#include "core/ops/operands/unrecorded.h"
#include "factors.h"
#include "matrices.h"

namespace ambit {
namespace {

constexpr const char* kSingular =
    "expected matrices of full rank, got a block of D, number {}, that is 0";

// A row-major matrix with n columns.
template <class T>
struct Rows {
  T& operator()(int64_t i, int64_t j) const { return data[i * n + j]; }
  T* data;
  int64_t n;
};

// The row to exchange with the last row of the next block of D.
struct Pivot {
  int64_t row;
  int64_t size;  // 1 or 2 rows
  bool zero = false;
};

template <class T>
Pivot choose(const Rows<T>& a, int64_t k) {
  const T alpha = (1 + std::sqrt(T(17))) / 8;  // bounds the growth of elements
  const auto size = [&a](int64_t i, int64_t j) { return std::abs(a(i, j)); };
  const T here = size(k, k);
  int64_t r = k;
  T column = 0, row = 0;
  for (int64_t i = k + 1; i < a.n; ++i) {
    if (size(i, k) > column) column = size(i, k), r = i;
  }
  if (std::isnan(here) || std::max(here, column) == 0) return {k, 1, true};
  if (here >= alpha * column) return {k, 1};
  for (int64_t j = k; j < r; ++j) row = std::max(row, size(r, j));
  for (int64_t i = r + 1; i < a.n; ++i) row = std::max(row, size(i, r));
  if (here >= alpha * column * (column / row)) return {k, 1};
  return {r, size(r, r) >= alpha * row ? 1 : 2};
}

// Exchange rows and columns `last` and `row` >= last of the remaining matrix from row k on.
template <class T>
void exchange(const Rows<T>& a, int64_t k, int64_t last, int64_t row) {
  if (row == last) return;
  for (int64_t i = row + 1; i < a.n; ++i) std::swap(a(i, last), a(i, row));
  for (int64_t i = last + 1; i < row; ++i) std::swap(a(i, last), a(row, i));
  std::swap(a(last, last), a(row, row));
  if (last > k) std::swap(a(last, k), a(row, k));
}

template <class T>
void eliminate(const Rows<T>& a, int64_t k) {
  const T d = 1 / a(k, k);
  std::vector<T> x;
  for (int64_t i = k + 1; i < a.n; ++i) {
    x.push_back(a(i, k));
    a(i, k) *= d;
    for (int64_t j = k + 1; j <= i; ++j) a(i, j) -= a(i, k) * x[static_cast<size_t>(j - k - 1)];
  }
}

// As above, for a block of rows k and k + 1.
template <class T>
void eliminate_two(const Rows<T>& a, int64_t k) {
  const T off = a(k + 1, k), d1 = a(k + 1, k + 1) / off, d2 = a(k, k) / off;
  const T d = 1 / (d1 * d2 - 1) / off;
  std::vector<T> x, y;
  for (int64_t i = k + 2; i < a.n; ++i) {
    x.push_back(a(i, k));
    y.push_back(a(i, k + 1));
    a(i, k) = d * (d1 * x.back() - y.back());
    a(i, k + 1) = d * (d2 * y.back() - x.back());
    for (int64_t j = k + 2; j <= i; ++j) {
      const auto at = static_cast<size_t>(j - k - 2);
      a(i, j) -= a(i, k) * x[at] + a(i, k + 1) * y[at];
    }
  }
}

// Overwrite the lower triangle of `a` with L, without its unit diagonal, and D; return info.
template <class T>
int32_t factor(const Rows<T>& a, int32_t* pivots) {
  int32_t info = 0;
  for (int64_t k = 0; k < a.n;) {
    const Pivot p = choose(a, k);
    const int64_t last = k + p.size - 1;
    const auto number = static_cast<int32_t>(p.row + 1);
    exchange(a, k, last, p.row);
    if (p.zero) {
      if (info == 0) info = number;
    } else if (p.size == 1) {
      eliminate(a, k);
    } else {
      eliminate_two(a, k);
    }
    for (; k <= last; ++k) pivots[k] = p.size == 1 ? number : -number;
  }
  return info;
}

// A block of D, the part of L below it, and the row of b exchanged with its last row.
template <class T>
struct Block {
  Block(const Rows<const T>& factors, const int32_t* pivots, int64_t first)
      : a(factors),
        k(first),
        last(pivots[first] > 0 ? first : first + 1),
        row(std::abs(pivots[first]) - 1) {}

  void exchange(const Rows<T>& b) const {
    if (row != last) std::swap_ranges(&b(row, 0), &b(row, 0) + b.n, &b(last, 0));
  }
  // b[to] -= l b[from]
  void subtract(const Rows<T>& b, int64_t to, T l, int64_t from) const {
    for (int64_t c = 0; c < b.n; ++c) b(to, c) -= l * b(from, c);
  }
  void forward(const Rows<T>& b) const {
    exchange(b);
    for (int64_t i = last + 1; i < a.n; ++i) {
      for (int64_t j = k; j <= last; ++j) subtract(b, i, a(i, j), j);
    }
    divide(b);
  }
  void divide(const Rows<T>& b) const {
    if (k == last) {
      for (int64_t c = 0; c < b.n; ++c) b(k, c) /= a(k, k);
      return;
    }
    const T off = a(last, k), d1 = a(k, k) / off, d2 = a(last, last) / off, d = d1 * d2 - 1;
    for (int64_t c = 0; c < b.n; ++c) {
      const T x = b(k, c) / off, y = b(last, c) / off;
      b(k, c) = (d2 * x - y) / d;
      b(last, c) = (d1 * y - x) / d;
    }
  }
  void backward(const Rows<T>& b) const {
    for (int64_t i = last + 1; i < a.n; ++i) {
      for (int64_t j = k; j <= last; ++j) subtract(b, j, a(i, j), i);
    }
    exchange(b);
  }

  const Rows<const T>& a;
  int64_t k, last, row;
};

template <class T>
void solve(const Rows<const T>& a, const int32_t* pivots, const Rows<T>& b) {
  if (b.n == 0) return;
  std::vector<Block<T>> blocks;
  for (int64_t k = 0; k < a.n; k = blocks.back().last + 1) blocks.emplace_back(a, pivots, k);
  for (const Block<T>& block : blocks) block.forward(b);
  std::for_each(blocks.rbegin(), blocks.rend(), [&b](const Block<T>& block) { block.backward(b); });
}

// Check that pivots have the form that factor() returns. Errors: IndexError.
void check_pivots(const char* op, int64_t n, const int32_t* pivots) {
  for (int64_t k = 0; k < n; ++k) {
    const int64_t row = std::abs(int64_t{pivots[k]}) - 1;
    const bool pair = pivots[k] < 0;
    const int64_t last = pair ? k + 1 : k;
    if (row < last || row >= n || (pair && pivots[last] != pivots[k])) {
      throw IndexError(fmt::format("{}: expected pivots of linalg_ldl_factor, got {} as number {}",
                                   op, pivots[k], k + 1));
    }
    k = last;
  }
}

// Return a private contiguous copy on the host, upcast if needed.
Tensor host_copy(const Tensor& t) { return upcast(t).cpu().contiguous(); }

std::tuple<Tensor, Tensor, Tensor> factored(const char* op, const Tensor& A) {
  expect_square(op, "self", A);
  const int64_t n = A.size(-1);
  const Dims batch = batch_of(A);
  Tensor out, pivots, info;
  if (A.is_meta()) {
    out = allocate(op, A.sizes(), A.dtype(), A.device());
    pivots = allocate(op, batch_and(batch, {n}), kInt32, A.device());
    info = allocate(op, batch, kInt32, A.device());
  } else {
    const NoGradGuard no_grad;
    out = lower_part(host_copy(A));
    pivots = allocate(op, batch_and(batch, {n}), kInt32, kCPU);
    info = allocate(op, batch, kInt32, kCPU);
    visit<dtypes::kFloating>(out.dtype(), [&]<class T>() {
      for (int64_t i = 0; i < info.numel(); ++i) {
        info.data_ptr<int32_t>()[i] =
            factor(Rows<T>{out.data_ptr<T>() + i * n * n, n}, pivots.data_ptr<int32_t>() + i * n);
      }
    });
    out = out.to(A.dtype()).to(A.device());
    pivots = pivots.to(A.device());
    info = info.to(A.device());
  }
  record_factors<1>(op, A, {out}, [op](const auto&, const auto&) -> Tensor {
    throw NotImplementedError(
        fmt::format("{}: expected no backward, got one; the gradient is not implemented", op));
  });
  return {out, pivots, info};
}

Tensor solved(const char* op, const Tensor& LD, const Tensor& pivots, const Tensor& B) {
  const Dims batch = broadcast(op, batch_of(LD), batch_of(B));
  const int64_t n = LD.size(-1), columns = B.size(-1);
  const Dims sizes = batch_and(batch, {n, columns});
  if (B.is_meta()) return allocate(op, sizes, B.dtype(), B.device());
  const NoGradGuard no_grad;
  const Tensor a = host_copy(LD.expand(batch_and(batch, {n, n})));
  const Tensor p = host_copy(pivots.expand(batch_and(batch, {n})));
  const Tensor x = upcast(B.expand(sizes)).cpu().clone(MemoryFormat::Contiguous);
  visit<dtypes::kFloating>(x.dtype(), [&]<class T>() {
    for (int64_t i = 0; i < count(op, batch); ++i) {
      const int32_t* swaps = p.data_ptr<int32_t>() + i * n;
      check_pivots(op, n, swaps);
      solve(Rows<const T>{a.data_ptr<T>() + i * n * n, n}, swaps,
            Rows<T>{x.data_ptr<T>() + i * n * columns, columns});
    }
  });
  return x.to(B.dtype()).to(B.device());
}

}  // namespace

std::tuple<Tensor, Tensor> linalg_ldl_factor(const Tensor& self, bool /*hermitian*/) {
  const auto [out, pivots, info] = factored("linalg_ldl_factor", self);
  check_info("linalg_ldl_factor", info, kSingular);
  return {out, pivots};
}

std::tuple<Tensor, Tensor, Tensor> linalg_ldl_factor_ex(const Tensor& self, bool /*hermitian*/,
                                                        bool check_errors) {
  std::tuple<Tensor, Tensor, Tensor> out = factored("linalg_ldl_factor_ex", self);
  if (check_errors) check_info("linalg_ldl_factor_ex", std::get<2>(out), kSingular);
  return out;
}

Tensor linalg_ldl_solve(const Tensor& LD, const Tensor& pivots, const Tensor& B,
                        bool /*hermitian*/) {
  constexpr const char* kOp = "linalg_ldl_solve";
  check_devices(kOp, {{"LD", LD}, {"pivots", pivots}, {"B", B}});
  expect_square(kOp, "LD", LD);
  expect_matrices(kOp, "B", B);
  expect_dtype(kOp, "B", B, LD.dtype());
  expect_dtype(kOp, "pivots", pivots, kInt32);
  expect_sizes(kOp, "pivots", pivots, batch_and(batch_of(LD), {LD.size(-1)}));
  if (LD.size(-1) != B.size(-2)) {
    throw ShapeError(
        fmt::format("{}: expected B of {} rows, got shape {}", kOp, LD.size(-1), str(B.sizes())));
  }
  const Tensor out = solved(kOp, LD, pivots, B);
  return record(kOp, out,
                wrt(LD,
                    [](const Tensor&) -> Tensor {
                      throw NotImplementedError(
                          "linalg_ldl_solve: expected no backward for LD, got one; its gradient is "
                          "not implemented");
                    }),
                wrt(B, [a = saved(LD), p = saved(pivots), back = ReduceGradTo(B)](const Tensor& g) {
                  return back(linalg_ldl_solve(a().detach(), p(), g));
                }));
}

}  // namespace ambit
