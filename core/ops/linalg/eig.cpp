// Eigenvalues and eigenvectors of general matrices: complex numbers, even of real matrices.
#include <ambit/backend/alias.h>
#include <ambit/backend/kernels.h>
#include <ambit/error.h>
#include <ambit/ops/complex.h>
#include <ambit/ops/creation.h>
#include <ambit/ops/elementwise.h>
#include <ambit/ops/linalg.h>
#include <ambit/ops/matmul.h>
#include <ambit/ops/reduce.h>
#include <ambit/ops/shape.h>
#include <fmt/format.h>

#include "core/ops/complex/parts.h"
#include "core/ops/operands/allocate.h"
#include "core/ops/operands/operand_grad.h"
#include "factors.h"
#include "matrices.h"

namespace ambit {
namespace {

constexpr const char* kNoConvergence =
    "expected finite numbers for which LAPACK converges, got its code {}";

// gA = V^-H (diag(gL) + (V^H gV - V^H V diag(Re(V^H gV))) / conj(E)) V^H, E_ij = L_j - L_i; changes
// of eigenvectors' lengths do not contribute.
// Source: Boeddeker et al. 2017, arXiv:1701.00392; PyTorch's linalg_eig_backward.
Tensor eig_grad(const char* op, const std::array<Tensor, 2>& g,
                const std::array<Tensor, 2>& factors) {
  const auto& [values, v] = factors;
  const auto& [gl, gv] = g;
  const Tensor vh = adjoint(v);
  if (!gv.defined()) return linalg_solve(vh, unsqueeze(gl, -1) * vh);
  const Tensor turn = matmul(vh, gv), along = main_diagonal(turn);
  expect_no_phase(op, along);
  const Tensor inner =
      (turn - matmul(vh, v) * unsqueeze(real(along), -2)) / differences(conj(values));
  const Tensor on_diagonal = gl.defined() ? gl : zeros_like(values);
  const Tensor one = eye(v.size(-1), TensorOptions(kBool).device(v.device()));
  return linalg_solve(vh, matmul(where(one, diagonal_matrix(on_diagonal), inner), vh));
}

struct EigFactors {
  Tensor values, vectors;
};

// Return x [...,N,N] as [B,N,N,1], or complex x as its parts [B,N,N,2].
Tensor as_parts(const Tensor& x) {
  const Tensor batch = as_batch(x);
  if (x.is_complex()) return pairs(batch);
  Dims sizes(batch.sizes());
  sizes.push_back(1);
  return alias(batch, sizes);
}

EigFactors factor_eig(const char* op, const Tensor& A, bool with_vectors) {
  const DType dtype = complex_dtype(A.dtype());
  const auto make = [&](IntArrayRef sizes, DType of) {
    return allocate(op, sizes, of, A.device());
  };
  EigFactors f{make(batch_and(batch_of(A), {A.size(-1)}), dtype),
               with_vectors ? make(A.sizes(), dtype) : Tensor()};
  const Tensor info = make(batch_of(A), kInt32);
  Tensor values = pairs(as_rows(f.values, 1)), status = as_rows(info, 0);
  Tensor vectors = with_vectors ? pairs(as_batch(f.vectors)) : Tensor();
  kernels::eig(values, vectors, status, as_parts(A));
  check_info(op, info, kNoConvergence);
  return f;
}

EigFactors recorded_eig(const char* op, const Tensor& self, bool with_vectors) {
  expect_square(op, "self", self, Elements::any);
  // No complex dtype has parts of a reduced floating-point type.
  const Tensor A = dtypes::kReducedFloating.contains(self.dtype()) ? self.to(kFloat32) : self;
  EigFactors f = factor_eig(op, A, with_vectors || needs_gradient(A));
  if (!f.vectors.defined()) return f;
  record_factors<2>(op, A, {f.values, f.vectors},
                    [op, is_real = !A.is_complex()](const auto& g, const auto& factors) {
                      const Tensor out = eig_grad(op, g, factors);
                      return is_real ? real(out) : out;
                    });
  return f;
}

}  // namespace

std::tuple<Tensor, Tensor> linalg_eig(const Tensor& self) {
  const EigFactors f = recorded_eig("linalg_eig", self, true);
  return {f.values, f.vectors};
}

Tensor linalg_eigvals(const Tensor& self) {
  return recorded_eig("linalg_eigvals", self, false).values;
}

}  // namespace ambit
