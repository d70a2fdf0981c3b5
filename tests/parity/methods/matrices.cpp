// Products and linear algebra, and functions that create, convert and query tensors.
#include "methods.h"

using namespace parity;

PARITY(methods_of_matrices) {
// S [3, 3] is positive definite, L its factor; C has b's columns as rows; BATCH makes batches.
#define S (o.a.t().matmul(o.a) + 2 * torch::eye(3, o.a.options().requires_grad(false)))
#define L torch::linalg_cholesky(S)
#define C o.b.t()
#define BATCH(t) torch::stack({t, t})
  run({
      {METHOD(bmm, o.b), 16},
      {ROW(bmm, BATCH(o.a).bmm(BATCH(C))), 16},
      {METHOD(addbmm, BATCH(o.a), BATCH(S)), 64},
      {METHOD(addbmm, BATCH(o.a), BATCH(S), 0.5, 2), 64, kWhole},
      {IN_PLACE(addbmm_, BATCH(o.b), BATCH(S)), 64},
      {METHOD(addmm, o.b, S), 64},
      {IN_PLACE(addmm_, o.b, S, 2, 0.5), 64, kWhole},
      {ROW(addmv, o.a.select(-1, 0).addmv(o.b, o.p.select(0, 0))), 64},
      {ROW(addmv_, o.a.select(-1, 0).clone().addmv_(o.b, o.p.select(0, 0), 2, 0.5)), 64, kWhole},
      {METHOD(addr, o.b.select(-1, 0), o.p.select(0, 0)), 16},
      {IN_PLACE(addr_, o.b.select(-1, 0), o.p.select(0, 0), 2, 0.5), 16, kWhole},
      {ROW(baddbmm, BATCH(o.a).baddbmm(BATCH(o.b), BATCH(S))), 64},
      {ROW(baddbmm_, BATCH(o.a).baddbmm_(BATCH(o.b), BATCH(S), 2, 0.5)), 64, kWhole},
      {ROW(linalg_cholesky, torch::linalg_cholesky(S)), 256},
      {ROW(linalg_cholesky, torch::linalg_cholesky(S, true)), 256},
      {ROW(cholesky_inverse, L.cholesky_inverse()), 1024},
      {ROW(cholesky_solve, C.cholesky_solve(L)), 1024},
      {METHOD(corrcoef), 256},
      {METHOD(cov), 64},
      {METHOD(cov, 0), 64},
      {METHOD(cross, o.b, -1), 16},
      {METHOD(cross, o.b), 16},
      {ROW(det, S.det()), 256},
      {ROW(dot, o.a.reshape(-1).dot(o.b.reshape(-1))), 32},
      {METHOD(dot, o.b), 32},
      {ROW(vdot, o.a.reshape(-1).vdot(o.b.reshape(-1))), 32},
      {ROW(geqrf, S.detach().geqrf()), 256},
      {ROW(ger, o.a.reshape(-1).ger(o.b.reshape(-1)))},
      {ROW(outer, o.a.reshape(-1).outer(o.p.select(-1, 0)))},
      {METHOD(inner, o.b), 16},
      {METHOD(inner, o.b.select(0, 0)), 16},
      {ROW(inverse, S.inverse()), 1024},
      {METHOD(kron, o.b)},
      {ROW(logdet, S.logdet()), 1024},
      {ROW(lu_solve, std::apply([&](auto f, auto p) { return C.lu_solve(f, p); },
                                torch::linalg_lu_factor(S))),
       4096},
      {METHOD(matmul, C), 16},
      {METHOD(matmul, o.b), 16},
      {ROW(matrix_exp, S.div(4).matrix_exp()), 1024},
      {ROW(matrix_power, S.matrix_power(3)), 1024},
      {ROW(matrix_power, S.matrix_power(-1)), 1024},
      {METHOD(mm, C), 16},
      {METHOD(mv, o.b.select(0, 0)), 16},
      {ROW(orgqr, std::get<0>(S.detach().geqrf()).orgqr(std::get<1>(S.detach().geqrf()))), 256},
      {ROW(ormqr,
           std::get<0>(S.detach().geqrf()).ormqr(std::get<1>(S.detach().geqrf()), C.detach())),
       256},
      {ROW(pinverse, S.pinverse()), 4096},
      {ROW(linalg_qr, torch::linalg_qr(S)), 4096},
      {ROW(linalg_qr, torch::linalg_qr(o.a, "complete")), 1024, kNumbers & ~kPlain},
      {ROW(slogdet, S.slogdet()), 1024},
      {ROW(svd, std::get<1>(o.a.svd())), 1024},
      {ROW(triangular_solve, std::get<0>(C.triangular_solve(L, false))), 1024},
  });
}
