// Linear systems with square matrices, inverses and powers.
#include <ambit/backend/kernels.h>
#include <ambit/detail/record.h>
#include <ambit/error.h>
#include <ambit/ops/complex.h>
#include <ambit/ops/creation.h>
#include <ambit/ops/elementwise.h>
#include <ambit/ops/linalg.h>
#include <ambit/ops/matmul.h>
#include <ambit/ops/shape.h>
#include <fmt/format.h>

#include <algorithm>

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
    "expected invertible matrices, got a 0 as number {} of U's diagonal";

void expect_rows(const char* op, const Tensor& A, const Tensor& B) {
  if (A.size(-1) == B.size(-2)) return;
  throw ShapeError(fmt::format("{}: expected sizes that agree, got {} and {}", op, str(A.sizes()),
                               str(B.sizes())));
}

// Return (out, info) with A out = B.
//   gB = A^-H g,  gA = -gB out^H
std::tuple<Tensor, Tensor> solve_left(const char* op, const Tensor& A, const Tensor& B) {
  expect_rows(op, A, B);
  broadcast(op, batch_of(A), batch_of(B));
  const LuFactors f = factor_lu(op, A);
  Tensor out = solve_lu(op, f.lu, f.pivots, B, false);
  // Reuse the factors if the gradient need not be differentiated with respect to A.
  const auto b_grad = [f, op](const Tensor& g, const Tensor& a) {
    if (GradMode::is_enabled()) return std::get<0>(solve_left(op, adjoint(a), g));
    return solve_adjoint(op, f, g);
  };
  out = record(op, out,
               wrt(A,
                   [b_grad, a = saved(A), x = saved_output(out)](const Tensor& g) {
                     const Tensor A_ = a();
                     return sum_to(-matmul(b_grad(g, A_), adjoint(x())), A_.sizes());
                   }),
               wrt(B, [b_grad, a = saved(A), sizes = Dims(B.sizes())](const Tensor& g) {
                 return sum_to(b_grad(g, a()), sizes);
               }));
  return {out, f.info};
}

std::tuple<Tensor, Tensor> solve(const char* op, const Tensor& A, const Tensor& B, bool left) {
  check_devices(op, {{"A", A}, {"B", B}});
  expect_square(op, "A", A, Elements::any);
  expect_dtype(op, "B", B, A.dtype());
  const IntArrayRef a = A.sizes();
  const bool vector = B.dim() == 1 || B.sizes() == IntArrayRef(a.data(), a.size() - 1);
  if (B.dim() == 0 || (vector && !left)) {
    throw_dim(op, "B", left ? "vectors or matrices" : "matrices for left = false", B.sizes());
  }
  if (!left) {
    const auto [x, info] = solve_left(op, transposed(A), transposed(B));
    return {transposed(x), info};
  }
  if (!vector) return solve_left(op, A, B);
  const auto [x, info] = solve_left(op, A, unsqueeze(B, -1));
  return {squeeze(x, -1), info};
}

// gA = -out^H g out^H
std::tuple<Tensor, Tensor> invert(const char* op, const Tensor& A) {
  expect_square(op, "A", A, Elements::any);
  const LuFactors f = factor_lu(op, A);
  Tensor out = solve_lu(op, f.lu, f.pivots, identity_like(A, batch_of(A), A.size(-1)), false);
  out = record(op, out, wrt(A, [y = saved_output(out)](const Tensor& g) {
                 const Tensor t = adjoint(y());
                 return -matmul(t, matmul(g, t));
               }));
  return {out, f.info};
}

Tensor inverse_of(const char* op, const Tensor& A) {
  const auto [out, info] = invert(op, A);
  check_info(op, info, kSingular);
  return out;
}

Tensor solve_triangle(const char* op, const Tensor& A, const Tensor& B, bool upper,
                      bool unitriangular);

// gB = A^-H g,  gA = the triangle of -gB out^H
struct TriangleGrad {
  const char* op;
  bool upper, unitriangular;
  Tensor of_b(const Tensor& g, const Tensor& a) const {
    return solve_triangle(op, adjoint(a), g, !upper, unitriangular);
  }
  Tensor of_a(const Tensor& g, const Tensor& a, const Tensor& x) const {
    const Tensor full = sum_to(-matmul(of_b(g, a), adjoint(x)), a.sizes());
    const int64_t k = unitriangular ? 1 : 0;
    return upper ? upper_part(full, k) : lower_part(full, -k);
  }
};

Tensor solve_triangle(const char* op, const Tensor& A, const Tensor& B, bool upper,
                      bool unitriangular) {
  expect_rows(op, A, B);
  const Dims batch = broadcast(op, batch_of(A), batch_of(B));
  const int64_t n = A.size(-1);
  Tensor out = allocate(op, batch_and(batch, {n, B.size(-1)}), A.dtype(), A.device());
  {
    const NoGradGuard no_grad;
    Tensor a = expanded(A, batch_and(batch, {n, n}));
    TriangularParams p{.upper = upper, .unitriangular = unitriangular};
    // Pass a transposed view without a copy.
    if (const Tensor t = transposed(a); !a.is_contiguous() && t.is_contiguous()) {
      a = t;
      p.transpose = true;
      p.upper = !upper;
    }
    Tensor y = as_batch(out);
    kernels::triangular_solve(y, as_batch(a), as_batch(expanded(B, out.sizes())), p);
  }
  const TriangleGrad grad{op, upper, unitriangular};
  return record(op, out,
                wrt(A, [grad, a = saved(A),
                        x = saved_output(out)](const Tensor& g) { return grad.of_a(g, a(), x()); }),
                wrt(B, [grad, a = saved(A), sizes = Dims(B.sizes())](const Tensor& g) {
                  return sum_to(grad.of_b(g, a()), sizes);
                }));
}

void expect_triangular(const char* op, const Tensor& A, const Tensor& B) {
  expect_square(op, "A", A, Elements::any);
  expect_matrices(op, "B", B, Elements::any);
  expect_dtype(op, "B", B, A.dtype());
}

}  // namespace

Tensor linalg_inv(const Tensor& A) { return inverse_of("linalg_inv", A); }
Tensor inverse(const Tensor& self) { return inverse_of("inverse", self); }

std::tuple<Tensor, Tensor> linalg_inv_ex(const Tensor& A, bool check_errors) {
  std::tuple<Tensor, Tensor> out = invert("linalg_inv_ex", A);
  if (check_errors) check_info("linalg_inv_ex", std::get<1>(out), kSingular);
  return out;
}

Tensor linalg_solve(const Tensor& A, const Tensor& B, bool left) {
  const auto [out, info] = solve("linalg_solve", A, B, left);
  check_info("linalg_solve", info, kSingular);
  return out;
}

std::tuple<Tensor, Tensor> linalg_solve_ex(const Tensor& A, const Tensor& B, bool left,
                                           bool check_errors) {
  std::tuple<Tensor, Tensor> out = solve("linalg_solve_ex", A, B, left);
  if (check_errors) check_info("linalg_solve_ex", std::get<1>(out), kSingular);
  return out;
}

Tensor linalg_solve_triangular(const Tensor& self, const Tensor& B, bool upper, bool left,
                               bool unitriangular) {
  constexpr const char* kOp = "linalg_solve_triangular";
  check_devices(kOp, {{"self", self}, {"B", B}});
  expect_triangular(kOp, self, B);
  if (left) return solve_triangle(kOp, self, B, upper, unitriangular);
  return transposed(solve_triangle(kOp, transposed(self), transposed(B), !upper, unitriangular));
}

std::tuple<Tensor, Tensor> triangular_solve(const Tensor& self, const Tensor& A, bool upper,
                                            bool transpose, bool unitriangular) {
  constexpr const char* kOp = "triangular_solve";
  check_devices(kOp, {{"self", self}, {"A", A}});
  expect_triangular(kOp, A, self);
  const Tensor x = transpose ? solve_triangle(kOp, transposed(A), self, !upper, unitriangular)
                             : solve_triangle(kOp, A, self, upper, unitriangular);
  return {x, clone(expand(A, batch_and(batch_of(x), {A.size(-2), A.size(-1)})))};
}

Tensor linalg_tensorsolve(const Tensor& self, const Tensor& other, OptionalIntArrayRef dims) {
  constexpr const char* kOp = "linalg_tensorsolve";
  check_devices(kOp, {{"self", self}, {"other", other}});
  expect_inexact(kOp, self);
  expect_dtype(kOp, "other", other, self.dtype());
  Tensor a = self;
  if (dims) {
    Dims order;
    std::vector<int64_t> last;
    for (const int64_t d : *dims) last.push_back(wrap_dim(kOp, d, self.dim()));
    for (int64_t d = 0; d < self.dim(); ++d) {
      if (std::find(last.begin(), last.end(), d) == last.end()) order.push_back(d);
    }
    for (const int64_t d : last) order.push_back(d);
    a = permute(self, order);
  }
  const auto taken = static_cast<size_t>(std::min(other.dim(), a.dim()));
  const IntArrayRef sizes(a.sizes().data() + taken, a.sizes().size() - taken);
  const int64_t n = count(kOp, sizes);
  if (n != other.numel() || a.numel() != n * n) {
    throw ShapeError(fmt::format(
        "{}: expected sizes whose first {} and remaining ones each have the product {}, got {}",
        kOp, taken, other.numel(), str(a.sizes())));
  }
  return reshape(linalg_solve(reshape(a, {n, n}), reshape(other, {n})), sizes);
}

Tensor linalg_tensorinv(const Tensor& self, int64_t ind) {
  constexpr const char* kOp = "linalg_tensorinv";
  expect_inexact(kOp, self);
  if (ind < 1) throw Error(fmt::format("{}: expected a positive ind, got {}", kOp, ind));
  const auto split = static_cast<size_t>(std::min(ind, self.dim()));
  const IntArrayRef sizes = self.sizes(), first(sizes.data(), split);
  const IntArrayRef rest(sizes.data() + split, sizes.size() - split);
  const int64_t n = count(kOp, first);
  if (n != count(kOp, rest)) {
    throw ShapeError(fmt::format(
        "{}: expected sizes whose first {} and remaining ones have equal products, got {}", kOp,
        ind, str(sizes)));
  }
  return reshape(linalg_inv(reshape(self, {n, n})), batch_and(rest, first));
}

Tensor linalg_matrix_power(const Tensor& self, int64_t n) {
  constexpr const char* kOp = "linalg_matrix_power";
  expect_defined(kOp, "self", self);
  if (n < 0 || self.dtype() == kBool) expect_inexact(kOp, self);
  if (self.dim() < 2 || self.size(-1) != self.size(-2)) {
    throw_dim(kOp, "self", "square matrices", self.sizes());
  }
  if (n == 0) return clone(identity_like(self, batch_of(self), self.size(-1)));
  Tensor base = n < 0 ? linalg_inv(self) : self, out;
  // Unsigned, because -INT64_MIN does not fit int64.
  auto left = n < 0 ? 0 - static_cast<uint64_t>(n) : static_cast<uint64_t>(n);
  for (; left != 0; left >>= 1) {
    if ((left & 1) != 0) out = out.defined() ? matmul(out, base) : base;
    if (left > 1) base = matmul(base, base);
  }
  return n == 1 ? clone(out) : out;
}

}  // namespace ambit
