// Cholesky factorisation of symmetric positive definite matrices, and functions that use it.
#include <ambit/backend/kernels.h>
#include <ambit/detail/record.h>
#include <ambit/ops/creation.h>
#include <ambit/ops/elementwise.h>
#include <ambit/ops/linalg.h>
#include <ambit/ops/matmul.h>
#include <ambit/ops/shape.h>

#include "core/ops/operands/allocate.h"
#include "core/ops/operands/expect.h"
#include "factors.h"
#include "matrices.h"

namespace ambit {
namespace {

constexpr const char* kNotPositive =
    "expected positive definite matrices, got a leading minor of order {} that is not positive";

// gA = L^-H phi L^-1 / 2, with phi Hermitian, from the lower triangle of L^H gL.
// Source: Murray 2016, arXiv:1602.07527; PyTorch's cholesky_backward.
Tensor cholesky_grad(const Tensor& g, const Tensor& l) {
  const Tensor product = matmul(adjoint(l), g);
  const Tensor phi = lower_part(product) + adjoint(lower_part(product, -1));
  const Tensor left = linalg_solve_triangular(adjoint(l), phi, true);
  return linalg_solve_triangular(l, left, false, false) * 0.5;
}

std::tuple<Tensor, Tensor> factor(const char* op, const Tensor& A, bool upper) {
  expect_square(op, "self", A, Elements::any);
  Tensor out = allocate(op, A.sizes(), A.dtype(), A.device());
  Tensor info = allocate(op, batch_of(A), kInt32, A.device());
  Tensor y = as_batch(out), status = as_rows(info, 0);
  kernels::cholesky(y, status, as_batch(A), upper);
  out = record(op, out, wrt(A, [upper, y = saved_output(out)](const Tensor& g) {
                 const Tensor l = y();
                 return upper ? cholesky_grad(adjoint(g), adjoint(l)) : cholesky_grad(g, l);
               }));
  return {out, info};
}

Tensor checked(const char* op, const Tensor& A, bool upper) {
  const auto [out, info] = factor(op, A, upper);
  check_info(op, info, kNotPositive);
  return out;
}

}  // namespace

Tensor linalg_cholesky(const Tensor& self, bool upper) {
  return checked("linalg_cholesky", self, upper);
}
Tensor cholesky(const Tensor& self, bool upper) { return checked("cholesky", self, upper); }

std::tuple<Tensor, Tensor> linalg_cholesky_ex(const Tensor& self, bool upper, bool check_errors) {
  std::tuple<Tensor, Tensor> out = factor("linalg_cholesky_ex", self, upper);
  if (check_errors) check_info("linalg_cholesky_ex", std::get<1>(out), kNotPositive);
  return out;
}

Tensor cholesky_inverse(const Tensor& self, bool upper) {
  expect_square("cholesky_inverse", "self", self, Elements::any);
  const Tensor l = upper ? adjoint(self) : self;
  const Tensor half = linalg_solve_triangular(l, identity_like(self, batch_of(self), self.size(-1)),
                                              /*upper=*/false);
  return matmul(adjoint(half), half);
}

Tensor cholesky_solve(const Tensor& self, const Tensor& input2, bool upper) {
  check_devices("cholesky_solve", {{"self", self}, {"input2", input2}});
  expect_matrices("cholesky_solve", "self", self, Elements::any);
  expect_square("cholesky_solve", "input2", input2, Elements::any);
  expect_dtype("cholesky_solve", "input2", input2, self.dtype());
  const Tensor l = upper ? adjoint(input2) : input2;
  return linalg_solve_triangular(adjoint(l), linalg_solve_triangular(l, self, false), true);
}

}  // namespace ambit
