// QR factorisation by Householder reflections.
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
#include "factors.h"
#include "matrices.h"

namespace ambit {
namespace {

// For square or tall A, with S(M) the Hermitian matrix of an upper triangle and the real parts of a
// diagonal:
//   gA = (gQ + Q S(gR R^H - Q^H gQ)) R^-H
// For wide A = [X Y] = Q [U V], with the QR of X and V = Q^H Y: gY = Q gV, and gQ += Y gV^H.
// Source: Seeger et al. 2017, arXiv:1710.08717; Roberts & Roberts 2020, arXiv:2009.10071.
Tensor qr_grad(const std::array<Tensor, 2>& g, const std::array<Tensor, 2>& factors) {
  const auto& [q, r] = factors;
  const int64_t n = r.size(-1), m = q.size(-1);
  Tensor gq = g[0], gr = g[1], gy;
  if (n > m) {
    const Tensor gv = gr.defined() ? narrow(gr, -1, m, n - m)
                                   : zeros(batch_and(batch_of(r), {m, n - m}), r.options());
    const Tensor more = matmul(matmul(q, narrow(r, -1, m, n - m)), adjoint(gv));
    gy = matmul(q, gv);
    gq = gq.defined() ? gq + more : more;
    if (gr.defined()) gr = narrow(gr, -1, 0, m);
  }
  const Tensor u = n > m ? narrow(r, -1, 0, m) : r;
  Tensor inner;
  if (gr.defined()) inner = matmul(gr, adjoint(u));
  if (gq.defined()) {
    const Tensor turn = matmul(adjoint(q), gq);
    inner = inner.defined() ? inner - turn : -turn;
  }
  const Tensor above = upper_part(inner, 1);
  Tensor out = matmul(q, above + diagonal_matrix(real(main_diagonal(inner))) + adjoint(above));
  if (gq.defined()) out = out + gq;
  out = linalg_solve_triangular(adjoint(u), out, /*upper=*/false, /*left=*/false);
  return gy.defined() ? cat({out, gy}, -1) : out;
}

std::tuple<Tensor, Tensor> factor(const char* op, const Tensor& A, std::string_view mode) {
  expect_matrices(op, "A", A, Elements::any);
  const bool complete = mode == "complete", only_r = mode == "r";
  if (!complete && !only_r && mode != "reduced") {
    throw Error(fmt::format("{}: expected the mode reduced, complete or r, got \"{}\"", op, mode));
  }
  const int64_t m = A.size(-2), n = A.size(-1), c = complete ? m : std::min(m, n);
  const auto make = [&](IntArrayRef sizes) { return allocate(op, sizes, A.dtype(), A.device()); };
  const Tensor q = only_r ? make({0}) : make(batch_and(batch_of(A), {m, c}));
  const Tensor r = make(batch_and(batch_of(A), {c, n}));
  Tensor kernel_q = only_r ? Tensor() : as_batch(q), kernel_r = as_batch(r);
  kernels::qr(kernel_q, kernel_r, as_batch(A));
  const char* without = only_r              ? "mode \"r\""
                        : complete && m > n ? "mode \"complete\" of tall matrices"
                                            : nullptr;
  record_factors<2>(op, A, {q, r}, [op, without](const auto& g, const auto& factors) {
    if (without) {
      throw AutogradError(
          fmt::format("{}: expected factors with a gradient, got {}, which has "
                      "none",
                      op, without));
    }
    return qr_grad(g, factors);
  });
  return {q, r};
}

}  // namespace

std::tuple<Tensor, Tensor> linalg_qr(const Tensor& A, std::string_view mode) {
  return factor("linalg_qr", A, mode);
}

std::tuple<Tensor, Tensor> qr(const Tensor& self, bool some) {
  return factor("qr", self, some ? "reduced" : "complete");
}

}  // namespace ambit
