// Provisional.
#include <ambit/backend/reference.h>
#include <ambit/error.h>

namespace ambit::reference {

void lu_factor(Tensor&, Tensor&, Tensor&, const Tensor&) { throw NotImplementedError("lu_factor"); }
void lu_solve(Tensor&, const Tensor&, const Tensor&, const Tensor&, bool) {
  throw NotImplementedError("lu_solve");
}
void cholesky(Tensor&, Tensor&, const Tensor&, bool) { throw NotImplementedError("cholesky"); }
void qr(Tensor&, Tensor&, const Tensor&) { throw NotImplementedError("qr"); }
void eigh(Tensor&, Tensor&, Tensor&, const Tensor&, bool) { throw NotImplementedError("eigh"); }
void svd(Tensor&, Tensor&, Tensor&, Tensor&, const Tensor&) { throw NotImplementedError("svd"); }
void triangular_solve(Tensor&, const Tensor&, const Tensor&, const TriangularParams&) {
  throw NotImplementedError("triangular_solve");
}

}  // namespace ambit::reference
