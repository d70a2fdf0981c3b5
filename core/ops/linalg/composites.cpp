// Composites of the factorisations: LAPACK on the host.
#include <algorithm>
#include <iterator>

#include "core/ops/composite.h"
#include "core/ops/on_host.h"

namespace ambit {

bool is_on_host(const OpBase& op) {
  static constexpr const OpBase* kAll[] = {
      &kernels::lu_factor, &kernels::lu_solve, &kernels::cholesky, &kernels::qr,
      &kernels::eigh,      &kernels::eig,      &kernels::svd,      &kernels::triangular_solve};
  return std::find(std::begin(kAll), std::end(kAll), &op) != std::end(kAll);
}

namespace composite {

void lu_factor(Tensor& lu, Tensor& pivots, Tensor& info, const Tensor& x) {
  on_host(kernels::lu_factor, lu, pivots, info, x);
}

void lu_solve(Tensor& y, const Tensor& lu, const Tensor& pivots, const Tensor& b, bool transpose) {
  on_host(kernels::lu_solve, y, lu, pivots, b, transpose);
}

void cholesky(Tensor& y, Tensor& info, const Tensor& x, bool upper) {
  on_host(kernels::cholesky, y, info, x, upper);
}

void qr(Tensor& q, Tensor& r, const Tensor& x) { on_host(kernels::qr, q, r, x); }

void eigh(Tensor& values, Tensor& vectors, Tensor& info, const Tensor& x, bool upper) {
  on_host(kernels::eigh, values, vectors, info, x, upper);
}

void eig(Tensor& values, Tensor& vectors, Tensor& info, const Tensor& x) {
  on_host(kernels::eig, values, vectors, info, x);
}

void svd(Tensor& u, Tensor& s, Tensor& vh, Tensor& info, const Tensor& x) {
  on_host(kernels::svd, u, s, vh, info, x);
}

void triangular_solve(Tensor& y, const Tensor& a, const Tensor& b, const TriangularParams& p) {
  on_host(kernels::triangular_solve, y, a, b, p);
}

}  // namespace composite
}  // namespace ambit
