// LU factorisation with partial pivoting: A = P L U.
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

LuFactors factor_lu(const char* op, const Tensor& A) {
  const IntArrayRef batch = batch_of(A);
  const Device device = A.device();
  LuFactors f{allocate(op, A.sizes(), A.dtype(), device),
              allocate(op, batch_and(batch, {std::min(A.size(-2), A.size(-1))}), kInt32, device),
              allocate(op, batch, kInt32, device)};
  Tensor lu = as_batch(f.lu), pivots = as_rows(f.pivots, 1), info = as_rows(f.info, 0);
  kernels::lu_factor(lu, pivots, info, as_batch(A));
  return f;
}

Tensor solve_lu(const char* op, const Tensor& lu, const Tensor& pivots, const Tensor& B,
                bool transpose) {
  const Dims batch = broadcast(op, batch_of(lu), batch_of(B));
  const int64_t n = lu.size(-1);
  Tensor out = allocate(op, batch_and(batch, {n, B.size(-1)}), B.dtype(), B.device());
  Tensor y = as_batch(out);
  const Tensor swaps = expanded(pivots, batch_and(batch, {n}));
  kernels::lu_solve(y, as_batch(expanded(lu, batch_and(batch, {n, n}))),
                    alias(dense(swaps), {y.size(0), n}), as_batch(expanded(B, out.sizes())),
                    transpose);
  return out;
}

Tensor solve_adjoint(const char* op, const LuFactors& f, const Tensor& B) {
  return conj(solve_lu(op, f.lu, f.pivots, conj(B), true));
}

namespace {

constexpr const char* kSingular =
    "expected invertible matrices, got a 0 as number {} of U's diagonal";

void expect_pivoting(const char* op, bool pivot) {
  if (pivot) return;
  throw NotImplementedError(fmt::format("{}: expected pivot to be true, got false", op));
}

Tensor leading_part(const Tensor& x, int64_t rows, int64_t columns) {
  return narrow(narrow(x, -2, 0, rows), -1, 0, columns);
}

Tensor unit_lower(const Tensor& lu) {
  const int64_t m = lu.size(-2), k = std::min(m, lu.size(-1));
  return lower_part(narrow(lu, -1, 0, k), -1) + eye(m, k, lu.options());
}

// With A = P [L1; L2] [U1 U2], L1 and U1 square; L2 or U2 is empty:
//   phi = strictly lower(L1^H gL1 - gU2 U2^H) + upper(gU1 U1^H - L2^H gL2)
//   gA = P [L1^-H phi U1^-H,  L1^-H gU2;  gL2 U1^-H]
// Source: PyTorch's plu_backward_base.
Tensor lu_factor_grad(const Tensor& g, const Tensor& lu, const Tensor& pivots) {
  const int64_t m = lu.size(-2), n = lu.size(-1), k = std::min(m, n);
  const Tensor lu1 = leading_part(lu, k, k), g1 = leading_part(g, k, k), t1 = adjoint(lu1);
  const auto left = [&](const Tensor& x) {  // L1^-H x
    return linalg_solve_triangular(t1, x, true, true, true);
  };
  const auto right = [&](const Tensor& x) {  // x U1^-H
    return linalg_solve_triangular(t1, x, false, false);
  };
  Tensor lower = matmul(adjoint(unit_lower(lu1)), lower_part(g1, -1));
  Tensor upper = matmul(upper_part(g1), adjoint(upper_part(lu1)));
  if (n > k) {
    lower = lower - matmul(narrow(g, -1, k, n - k), adjoint(narrow(lu, -1, k, n - k)));
  }
  if (m > k) {
    upper = upper - matmul(adjoint(narrow(lu, -2, k, m - k)), narrow(g, -2, k, m - k));
  }
  Tensor out = right(left(lower_part(lower, -1) + upper_part(upper)));
  if (n > k) out = cat({out, left(narrow(g, -1, k, n - k))}, -1);
  if (m > k) out = cat({out, right(narrow(g, -2, k, m - k))}, -2);
  return matmul(permutation(pivots, m, g.dtype()), out);
}

LuFactors recorded_lu(const char* op, const Tensor& A, bool pivot) {
  expect_matrices(op, "A", A, Elements::any);
  expect_pivoting(op, pivot);
  LuFactors f = factor_lu(op, A);
  f.lu =
      record(op, f.lu, wrt(A, [lu = saved_output(f.lu), pivots = saved(f.pivots)](const Tensor& g) {
               return lu_factor_grad(g, lu(), pivots());
             }));
  return f;
}

std::tuple<Tensor, Tensor, Tensor> unpack(const Tensor& lu, const Tensor& pivots) {
  const int64_t k = std::min(lu.size(-2), lu.size(-1));
  return {permutation(pivots, lu.size(-2), lu.dtype()), unit_lower(lu),
          upper_part(narrow(lu, -2, 0, k))};
}

void expect_pivots(const char* op, const Tensor& lu, const Tensor& pivots) {
  expect_dtype(op, "pivots", pivots, kInt32);
  const int64_t k = std::min(lu.size(-2), lu.size(-1));
  expect_sizes(op, "pivots", pivots, batch_and(batch_of(lu), {k}));
}

}  // namespace

std::tuple<Tensor, Tensor> linalg_lu_factor(const Tensor& A, bool pivot) {
  const LuFactors f = recorded_lu("linalg_lu_factor", A, pivot);
  return {f.lu, f.pivots};
}

std::tuple<Tensor, Tensor, Tensor> linalg_lu_factor_ex(const Tensor& A, bool pivot,
                                                       bool check_errors) {
  const LuFactors f = recorded_lu("linalg_lu_factor_ex", A, pivot);
  if (check_errors) check_info("linalg_lu_factor_ex", f.info, kSingular);
  return {f.lu, f.pivots, f.info};
}

std::tuple<Tensor, Tensor, Tensor> linalg_lu(const Tensor& A, bool pivot) {
  const LuFactors f = recorded_lu("linalg_lu", A, pivot);
  return unpack(f.lu, f.pivots);
}

std::tuple<Tensor, Tensor, Tensor> lu_unpack(const Tensor& LU_data, const Tensor& LU_pivots,
                                             bool unpack_data, bool unpack_pivots) {
  check_devices("lu_unpack", {{"LU_data", LU_data}, {"LU_pivots", LU_pivots}});
  expect_matrices("lu_unpack", "LU_data", LU_data, Elements::any);
  expect_pivots("lu_unpack", LU_data, LU_pivots);
  const int64_t k = std::min(LU_data.size(-2), LU_data.size(-1));
  const Tensor none = empty({0}, LU_data.options());
  return {unpack_pivots ? permutation(LU_pivots, LU_data.size(-2), LU_data.dtype()) : none,
          unpack_data ? unit_lower(LU_data) : none,
          unpack_data ? upper_part(narrow(LU_data, -2, 0, k)) : none};
}

namespace {

// Solve A x = B, or A^H x = B.
Tensor lu_solve_left(const char* op, const Tensor& lu, const Tensor& pivots, const Tensor& B,
                     bool is_adjoint) {
  if (lu.size(-1) != B.size(-2)) {
    throw ShapeError(
        fmt::format("{}: expected B of {} rows, got shape {}", op, lu.size(-1), str(B.sizes())));
  }
  if (needs_gradient(lu)) {  // as two triangular solves, which have gradients
    const Tensor p = permutation(pivots, lu.size(-1), lu.dtype()), t = adjoint(lu);
    if (!is_adjoint) {
      return linalg_solve_triangular(
          lu, linalg_solve_triangular(lu, matmul(transposed(p), B), false, true, true), true);
    }
    return matmul(
        p, linalg_solve_triangular(t, linalg_solve_triangular(t, B, false), true, true, true));
  }
  Tensor out =
      is_adjoint ? solve_adjoint(op, {lu, pivots, {}}, B) : solve_lu(op, lu, pivots, B, false);
  return record(op, out,
                wrt(B, [lu = saved(lu), pivots = saved(pivots), is_adjoint,
                        sizes = Dims(B.sizes())](const Tensor& g) {
                  return sum_to(linalg_lu_solve(lu(), pivots(), g, true, !is_adjoint), sizes);
                }));
}

Tensor solve_by_factors(const char* op, const Tensor& lu, const Tensor& pivots, const Tensor& B,
                        bool left, bool is_adjoint) {
  expect_defined(op, "B", B);
  expect_square(op, "LU", lu, Elements::any);
  expect_matrices(op, "B", B, Elements::any);
  expect_dtype(op, "B", B, lu.dtype());
  expect_pivots(op, lu, pivots);
  if (left) return lu_solve_left(op, lu, pivots, B, is_adjoint);
  // out A = B is A^H out^H = B^H, and out A^H = B is A out^H = B^H.
  return adjoint(lu_solve_left(op, lu, pivots, adjoint(B), !is_adjoint));
}

}  // namespace

Tensor linalg_lu_solve(const Tensor& LU, const Tensor& pivots, const Tensor& B, bool left,
                       bool is_adjoint) {
  check_devices("linalg_lu_solve", {{"LU", LU}, {"pivots", pivots}, {"B", B}});
  return solve_by_factors("linalg_lu_solve", LU, pivots, B, left, is_adjoint);
}

Tensor lu_solve(const Tensor& self, const Tensor& LU_data, const Tensor& LU_pivots) {
  check_devices("lu_solve", {{"self", self}, {"LU_data", LU_data}, {"LU_pivots", LU_pivots}});
  return solve_by_factors("lu_solve", LU_data, LU_pivots, self, true, false);
}

}  // namespace ambit
