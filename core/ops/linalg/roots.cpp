// Polar factors and square roots of Hermitian matrices. Their gradients solve X H + H X = M, which
// in the eigenvectors of H is a division by sums of eigenvalues; equal eigenvalues cause no
// division by 0.
#include <ambit/autograd.h>
#include <ambit/detail/record.h>
#include <ambit/error.h>
#include <ambit/ops/elementwise.h>
#include <ambit/ops/linalg.h>
#include <ambit/ops/matmul.h>
#include <ambit/ops/shape.h>
#include <fmt/format.h>

#include "factors.h"
#include "matrices.h"

namespace ambit {
namespace {

// Return the solution X of X H + H X = M for Hermitian H.
Tensor half_of_sum(const Tensor& H, const Tensor& M) {
  const auto [values, V] = linalg_eigh(H);
  const Tensor sums = unsqueeze(values, -1) + unsqueeze(values, -2);
  return matmul(matmul(V, matmul(matmul(adjoint(V), M), V) / sums), adjoint(V));
}

// dU = U W + (I - U U^H) dA H^-1 and dH = U^H dA - W H, with W H + H W = U^H dA - dA^H U.
Tensor polar_grad(const std::array<Tensor, 2>& g, const std::array<Tensor, 2>& factors) {
  const auto& [gU, gH] = g;
  const auto& [U, H] = factors;
  const Tensor Uh = adjoint(U);
  Tensor of_W, out;
  if (gU.defined()) of_W = matmul(Uh, gU);
  if (gH.defined()) {
    const Tensor by_H = matmul(gH, H);
    of_W = of_W.defined() ? of_W - by_H : neg(by_H);
    out = matmul(U, gH);
  }
  const Tensor turned = matmul(U, half_of_sum(H, of_W - adjoint(of_W)));
  out = out.defined() ? out + turned : turned;
  if (!gU.defined() || U.size(-2) == U.size(-1)) return out;
  const Tensor outside = gU - matmul(U, matmul(Uh, gU));
  return out + adjoint(linalg_solve(H, adjoint(outside)));
}

}  // namespace

std::tuple<Tensor, Tensor> linalg_polar(const Tensor& A) {
  constexpr const char* kOp = "linalg_polar";
  expect_matrices(kOp, "A", A, Elements::any);
  if (A.size(-2) < A.size(-1)) {
    throw ShapeError(
        fmt::format("{}: expected at least as many rows as columns, got {}", kOp, str(A.sizes())));
  }
  if (is_reduced_floating(A.dtype())) {
    const auto [wide_U, wide_H] = linalg_polar(A.to(kFloat32));
    return {wide_U.to(A.dtype()), wide_H.to(A.dtype())};
  }
  Tensor U, H;
  {
    const NoGradGuard no_grad;
    const SvdFactors f = factor_svd(kOp, A, false, true);
    U = matmul(f.u, f.vh);
    H = matmul(adjoint(f.vh) * unsqueeze(f.s, -2), f.vh);
    H = (H + adjoint(H)) / 2;
  }
  record_factors<2>(kOp, A, {U, H}, polar_grad);
  return {U, H};
}

Tensor linalg_matrix_sqrth(const Tensor& self) {
  constexpr const char* kOp = "linalg_matrix_sqrth";
  expect_square(kOp, "self", self, Elements::any);
  if (is_reduced_floating(self.dtype()))
    return linalg_matrix_sqrth(self.to(kFloat32)).to(self.dtype());
  Tensor root;
  {
    const NoGradGuard no_grad;
    const EighFactors f = factor_eigh(kOp, self, false, true);
    root = matmul(f.vectors * unsqueeze(sqrt(clamp_min(f.values, 0)), -2), adjoint(f.vectors));
  }
  return record(kOp, root, wrt(self, [root = saved_output(root)](const Tensor& g) {
                  return half_of_sum(root(), (g + adjoint(g)) / 2);
                }));
}

}  // namespace ambit
