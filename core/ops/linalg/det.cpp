// Determinants, from the diagonals of LU factors.
#include <ambit/backend/kernels.h>
#include <ambit/detail/record.h>
#include <ambit/ops/complex.h>
#include <ambit/ops/creation.h>
#include <ambit/ops/elementwise.h>
#include <ambit/ops/linalg.h>
#include <ambit/ops/matmul.h>
#include <ambit/ops/reduce.h>
#include <ambit/ops/shape.h>

#include <limits>

#include "core/ops/operands/operand_grad.h"
#include "factors.h"
#include "matrices.h"

namespace ambit {
namespace {

// Return 1 or -1 [...], by the number of row exchanges.
Tensor sign_of(const Tensor& pivots, DType dtype) {
  const TensorOptions options = TensorOptions(kInt32).device(pivots.device());
  const Tensor in_place = arange(1, pivots.size(-1) + 1, 1, options);
  const Tensor exchanges = sum(pivots != in_place, IntArrayRef(-1));
  return 1 - 2 * remainder(exchanges, 2).to(dtype);
}

Tensor each_matrix(const Tensor& v) { return unsqueeze(unsqueeze(v, -1), -1); }

// Return v [...] times identity matrices.
Tensor scaled_identity(const Tensor& v, int64_t n) {
  return diagonal_matrix(expand(unsqueeze(v, -1), batch_and(v.sizes(), {n})));
}

// out[i] = product of all other elements of v [...,N]: row products of a matrix whose rows are v,
// with ones on the diagonal.
Tensor products_of_others(const Tensor& v) {
  const int64_t n = v.size(-1);
  const Tensor ones_at = eye(n, TensorOptions(kBool).device(v.device()));
  return prod(where(ones_at, Scalar(1), unsqueeze(v, -2)), -1);
}

// d det = det tr(A^-1 dA), so gA = g conj(det) A^-H = g adj(A)^H, which also exists for singular
// matrices: with A = U S V^H it is g conj(det(U) det(V^H)) U diag(products of the other s) V^H.
// Source: PyTorch's linalg_det_backward; Higham,
// nhigham.com/2020/06/16/what-is-the-adjugate-of-a-matrix
Tensor det_grad(const Tensor& g, const Tensor& det, const Tensor& A, const LuFactors& f) {
  const int64_t n = A.size(-1);
  if (A.numel() == 0) return zeros_like(A);
  const bool again = GradMode::is_enabled();  // true for double backward
  const double epsilon = real_dtype(A.dtype()) == kFloat64 ? std::numeric_limits<double>::epsilon()
                                                           : std::numeric_limits<float>::epsilon();
  const Tensor singular = abs(det.detach()) <= Scalar(again ? 100 * epsilon : 0.0);
  const bool has_singular = !A.is_meta() && any(singular).item<bool>();
  if (!has_singular) {
    const Tensor d = scaled_identity(g * conj(det), n);
    if (again) return std::get<0>(linalg_solve_ex(adjoint(A), d));
    return solve_adjoint("linalg_det", f, d);
  }
  // Each branch gets well-conditioned matrices instead of those of the other branch.
  const Tensor here = each_matrix(singular), one = identity_like(A, {}, n);
  const Tensor d = scaled_identity(where(singular, Scalar(0), g * conj(det)), n);
  const Tensor by_inverse =
      again ? std::get<0>(linalg_solve_ex(adjoint(where(here, one, A)), d))
            : solve_adjoint("linalg_det", {where(here, one, f.lu), f.pivots, {}}, d);
  const Tensor harmless = diagonal_matrix(arange(1, n + 1, 1, A.options()));
  const auto [U, S, Vh] = linalg_svd(where(here, A, harmless), false);
  const Tensor alpha = each_matrix(conj(linalg_det(U) * linalg_det(Vh)) * g);
  const Tensor by_svd = alpha * matmul(U * unsqueeze(products_of_others(S), -2), Vh);
  return where(here, by_svd, by_inverse);
}

Tensor determinant(const char* op, const Tensor& A) {
  expect_square(op, "A", A, Elements::any);
  Tensor out;
  LuFactors f;
  {
    const NoGradGuard no_grad;
    f = factor_lu(op, A);
    out = prod(main_diagonal(f.lu), -1) * sign_of(f.pivots, A.dtype());
  }
  return record(op, out, wrt(A, [f, a = saved(A), det = saved_output(out)](const Tensor& g) {
                  return det_grad(g, det(), a(), f);
                }));
}

// With t = tr(A^-1 dA): d log|det| = Re(t), d sign = i Im(t) sign, so gA = (g of log|det| + i Im(g
// of sign conj(sign))) A^-H.
Tensor slogdet_grad(const char* op, const std::array<Tensor, 2>& g, const Tensor& sign,
                    const Tensor& A, const LuFactors& f) {
  const auto& [of_sign, of_log] = g;
  Tensor factor = of_log;
  if (A.is_complex() && of_sign.defined()) {
    const Tensor turn = imag(of_sign * conj(sign));
    factor = ambit::complex(of_log.defined() ? of_log : zeros_like(turn), turn);
  }
  if (GradMode::is_enabled()) {
    return each_matrix(factor) * adjoint(std::get<0>(linalg_inv_ex(A)));
  }
  return solve_adjoint(op, f, scaled_identity(factor.to(A.dtype()), A.size(-1)));
}

std::tuple<Tensor, Tensor> sign_and_log(const char* op, const Tensor& A) {
  expect_square(op, "A", A, Elements::any);
  Tensor sign, out;
  LuFactors f;
  {
    const NoGradGuard no_grad;
    f = factor_lu(op, A);
    const Tensor diagonal = main_diagonal(f.lu);
    sign = prod(sgn(diagonal), -1) * sign_of(f.pivots, A.dtype());
    out = sum(log(abs(diagonal)), IntArrayRef(-1));
  }
  if (!A.is_complex()) {
    out = record(op, out, wrt(A, [op, f, a = saved(A)](const Tensor& g) {
                   return slogdet_grad(op, {Tensor(), g}, Tensor(), a(), f);
                 }));
    return {sign, out};
  }
  record_factors<2>(op, A, {sign, out}, [op, f, a = saved(A)](const auto& g, const auto& y) {
    return slogdet_grad(op, g, y[0], a(), f);
  });
  return {sign, out};
}

}  // namespace

Tensor linalg_det(const Tensor& A) { return determinant("linalg_det", A); }
Tensor det(const Tensor& self) { return determinant("det", self); }

std::tuple<Tensor, Tensor> linalg_slogdet(const Tensor& A) {
  return sign_and_log("linalg_slogdet", A);
}
std::tuple<Tensor, Tensor> slogdet(const Tensor& self) { return sign_and_log("slogdet", self); }

Tensor logdet(const Tensor& self) {
  const auto [sign, log_abs] = sign_and_log("logdet", self);
  return log_abs + log(sign);  // NaN for -1
}

}  // namespace ambit
