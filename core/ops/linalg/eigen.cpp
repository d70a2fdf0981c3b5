// Eigenvalues of symmetric matrices; singular values.
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
#include "core/ops/operands/operand_grad.h"
#include "factors.h"
#include "matrices.h"

namespace ambit {
namespace {

constexpr const char* kNoConvergence =
    "expected finite numbers for which LAPACK converges, got its code {}";

Tensor skew(const Tensor& x) { return x - adjoint(x); }

// gA = V (diag(gL) + skew(V^H gV) / (2 E)) V^H, E_ij = l_j - l_i: Hermitian like A; changes of
// eigenvectors' lengths and phases do not contribute.
// Source: Boeddeker et al. 2017, arXiv:1701.00392; PyTorch's linalg_eig_backward.
Tensor eigh_grad(const char* op, const std::array<Tensor, 2>& g,
                 const std::array<Tensor, 2>& factors) {
  const auto& [values, v] = factors;
  const auto& [gl, gv] = g;
  if (!gv.defined()) return matmul(v * unsqueeze(gl, -2), adjoint(v));
  const Tensor turn = matmul(adjoint(v), gv);
  if (v.is_complex()) expect_no_phase(op, main_diagonal(turn));
  Tensor inner = skew(turn) / (2 * differences(values));
  const Tensor on_diagonal = gl.defined() ? gl : zeros_like(values);
  inner = where(eye(v.size(-1), TensorOptions(kBool).device(v.device())),
                diagonal_matrix(on_diagonal), inner);
  return matmul(v, matmul(inner, adjoint(v)));
}

// Return the diagonal of U^H gA V: gS, and for complex A an imaginary part from gU, since a phase
// moves between U and V when an element of the diagonal of U^H A V turns.
Tensor svd_diagonal(const char* op, const Tensor& gs, const Tensor& s, const Tensor& turn_u,
                    const Tensor& turn_v) {
  Tensor out = gs.defined() ? gs : zeros_like(s);
  if (turn_u.defined() ? !turn_u.is_complex() : !turn_v.is_complex()) return out;
  Tensor along;
  for (const Tensor& turn : {turn_u, turn_v}) {
    if (turn.defined()) along = along.defined() ? along + main_diagonal(turn) : main_diagonal(turn);
  }
  expect_no_phase(op, along);
  if (!turn_u.defined() || !turn_v.defined()) return out;
  return ambit::complex(out, imag(main_diagonal(turn_u)) / s);
}

// With E_ij = s_j^2 - s_i^2, E_ii = 1, and an elementwise "/":
//   gA = U ((skew(U^H gU) / E) S + S (skew(V^H gV) / E), with svd_diagonal()) V^H
//      + (I - U U^H) gU S^-1 V^H  if A is tall
//      + U S^-1 gV^H (I - V V^H)  if A is wide
// Source: Townsend 2016, "Differentiating the singular value decomposition"; PyTorch's
// svd_backward.
Tensor svd_grad(const char* op, const std::array<Tensor, 3>& g,
                const std::array<Tensor, 3>& factors) {
  const auto& [u, s, vh] = factors;
  const auto& [gu, gs, gvh] = g;
  const int64_t m = u.size(-2), n = vh.size(-1), k = s.size(-1);
  if (!gu.defined() && !gvh.defined()) return matmul(u * unsqueeze(gs, -2), vh);
  const Tensor e = differences(square(s)), row = unsqueeze(s, -2), column = unsqueeze(s, -1);
  const Tensor turn_u = gu.defined() ? matmul(adjoint(u), gu) : Tensor();
  const Tensor turn_v = gvh.defined() ? matmul(vh, adjoint(gvh)) : Tensor();
  Tensor inner;
  if (gu.defined()) inner = skew(turn_u) / e * row;
  if (gvh.defined()) {
    const Tensor by_v = column * (skew(turn_v) / e);
    inner = inner.defined() ? inner + by_v : by_v;
  }
  inner = where(eye(k, TensorOptions(kBool).device(s.device())),
                diagonal_matrix(svd_diagonal(op, gs, s, turn_u, turn_v)), inner);
  Tensor out = matmul(matmul(u, inner), vh);
  if (m > k && gu.defined()) {
    const Tensor scaled = gu / row;
    out = out + matmul(scaled - matmul(u, matmul(adjoint(u), scaled)), vh);
  }
  if (n > k && gvh.defined()) {
    const Tensor scaled = adjoint(gvh / column);
    out = out + matmul(u, adjoint(scaled - matmul(adjoint(vh), matmul(vh, scaled))));
  }
  return out;
}

bool is_upper(const char* op, std::string_view uplo) {
  if (uplo == "L" || uplo == "l") return false;
  if (uplo == "U" || uplo == "u") return true;
  throw Error(fmt::format("{}: expected UPLO to be L or U, got \"{}\"", op, uplo));
}

EighFactors recorded_eigh(const char* op, const Tensor& A, std::string_view uplo,
                          bool with_vectors) {
  expect_square(op, "self", A, Elements::any);
  const bool upper = is_upper(op, uplo);
  EighFactors f = factor_eigh(op, A, upper, with_vectors || needs_gradient(A));
  if (f.vectors.defined())
    record_factors<2>(op, A, {f.values, f.vectors}, [op](const auto& g, const auto& factors) {
      return eigh_grad(op, g, factors);
    });
  return f;
}

SvdFactors recorded_svd(const char* op, const Tensor& A, bool full, bool with_vectors) {
  expect_matrices(op, "A", A, Elements::any);
  SvdFactors f = factor_svd(op, A, full, with_vectors || needs_gradient(A));
  if (!f.u.defined()) return f;
  const int64_t k = f.s.size(-1);
  record_factors<3>(op, A, {f.u, f.s, f.vh}, [op, full, k](const auto& g, const auto& factors) {
    std::array<Tensor, 3> reduced = factors, gradients = g;
    if (full && factors[0].size(-2) != factors[2].size(-1)) {
      if (g[0].defined() || g[2].defined()) {
        throw AutogradError(fmt::format(
            "{}: expected reduced matrices U and Vh, got full ones, which are not unique and have "
            "no gradient",
            op));
      }
      reduced[0] = narrow(factors[0], -1, 0, k);
      reduced[2] = narrow(factors[2], -2, 0, k);
    }
    return svd_grad(op, gradients, reduced);
  });
  return f;
}

}  // namespace

EighFactors factor_eigh(const char* op, const Tensor& A, bool upper, bool with_vectors) {
  const auto make = [&](IntArrayRef sizes, DType dtype) {
    return allocate(op, sizes, dtype, A.device());
  };
  EighFactors f{make(batch_and(batch_of(A), {A.size(-1)}), real_dtype(A.dtype())),
                with_vectors ? make(A.sizes(), A.dtype()) : Tensor()};
  const Tensor info = make(batch_of(A), kInt32);
  Tensor values = as_rows(f.values, 1), vectors = as_batch(f.vectors), status = as_rows(info, 0);
  kernels::eigh(values, vectors, status, as_batch(A), upper);
  check_info(op, info, kNoConvergence);
  return f;
}

SvdFactors factor_svd(const char* op, const Tensor& A, bool full, bool with_vectors) {
  const int64_t m = A.size(-2), n = A.size(-1), k = std::min(m, n);
  const IntArrayRef batch = batch_of(A);
  const auto make = [&](IntArrayRef sizes, DType dtype) {
    return allocate(op, batch_and(batch, sizes), dtype, A.device());
  };
  SvdFactors f;
  if (with_vectors) {
    f.u = make({m, full ? m : k}, A.dtype());
    f.vh = make({full ? n : k, n}, A.dtype());
  }
  f.s = make({k}, real_dtype(A.dtype()));
  const Tensor info = make({}, kInt32);
  Tensor u = as_batch(f.u), s = as_rows(f.s, 1), vh = as_batch(f.vh), status = as_rows(info, 0);
  kernels::svd(u, s, vh, status, as_batch(A));
  check_info(op, info, kNoConvergence);
  return f;
}

std::tuple<Tensor, Tensor> linalg_eigh(const Tensor& self, std::string_view UPLO) {
  const EighFactors f = recorded_eigh("linalg_eigh", self, UPLO, true);
  return {f.values, f.vectors};
}

Tensor linalg_eigvalsh(const Tensor& self, std::string_view UPLO) {
  return recorded_eigh("linalg_eigvalsh", self, UPLO, false).values;
}

std::tuple<Tensor, Tensor> symeig(const Tensor& self, bool eigenvectors, bool upper) {
  const EighFactors f = recorded_eigh("symeig", self, upper ? "U" : "L", eigenvectors);
  return {f.values, eigenvectors ? f.vectors : empty({0}, self.options())};
}

std::tuple<Tensor, Tensor, Tensor> linalg_svd(const Tensor& A, bool full_matrices,
                                              std::optional<std::string_view>) {
  const SvdFactors f = recorded_svd("linalg_svd", A, full_matrices, true);
  return {f.u, f.s, f.vh};
}

Tensor linalg_svdvals(const Tensor& A, std::optional<std::string_view>) {
  return recorded_svd("linalg_svdvals", A, false, false).s;
}

std::tuple<Tensor, Tensor, Tensor> svd(const Tensor& self, bool some, bool compute_uv) {
  const SvdFactors f = recorded_svd("svd", self, !some, compute_uv);
  if (compute_uv) return {f.u, f.s, adjoint(f.vh)};
  const IntArrayRef batch = batch_of(self);
  const auto none = [&](int64_t n) { return zeros(batch_and(batch, {n, n}), self.options()); };
  return {none(self.size(-2)), f.s, none(self.size(-1))};
}

}  // namespace ambit
