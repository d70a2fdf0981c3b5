// Linear algebra. For a well-conditioned matrix a decomposition and its gradient lose about 4 of 16
// digits, which is 2^13 roundings.
#include "calls.h"

using namespace parity;

namespace {

Tensor well() { return x({3, 3}) + 3 * torch::eye(3, torch::kDouble); }
// Of eigenvalues and eigenvectors in any order.
Tensor traces(const Tensor& values) {
  return torch::real(torch::stack({values.sum(), (values * values * values).sum()}));
}
Tensor square_by_factors(const Tensor& x) {
  const auto factors = torch::linalg_eig(x);
  const Tensor values = std::get<0>(factors), v = std::get<1>(factors);
  return torch::real(torch::matmul(v * values * values, torch::linalg_inv(v)));
}
Tensor positive() { return torch::matmul(well(), well().t()); }

}  // namespace

PARITY(linear_algebra) {
  const double n = 8192;
  const Call calls[] = {
      {"inverse", OP(torch::inverse(a[0])), {well()}, n},
      {"det", OP(torch::det(a[0])), {well()}, n},
      {"logdet", OP(torch::logdet(a[0])), {positive()}, n},
      {"slogdet", OP(std::get<1>(torch::slogdet(a[0]))), {well()}, n},
      {"cholesky", OP(torch::linalg_cholesky(a[0])), {positive()}, n},
      {"solve", OP(torch::linalg_solve(a[0], a[1], true)), {well(), y({3, 2})}, n},
      {"pinv", OP(torch::pinverse(a[0])), {x({3, 2}) + torch::eye(3, 2, torch::kDouble)}, n},
      {"singular values", OP(torch::linalg_svdvals(a[0], torch::nullopt)), {well()}, n},
      {"eigenvalues", OP(torch::linalg_eigvalsh(a[0], "L")), {positive()}, n},
      {"eigenvalues of any matrix", OP(traces(torch::linalg_eigvals(a[0]))), {well()}, n},
      {"eigenvectors of any matrix", OP(square_by_factors(a[0])), {well()}, n},
      {"matrix_norm",
       OP(torch::linalg_matrix_norm(a[0], "fro", {-2, -1}, false, c10::nullopt)),
       {well()},
       n},
      {"vector_norm",
       OP(torch::linalg_vector_norm(a[0], 3, c10::nullopt, false, c10::nullopt)),
       {y()},
       n},
      {"triangular",
       OP(torch::linalg_solve_triangular(a[0].tril(), a[1], false, true, false)),
       {well(), y({3, 2})},
       n},
  };
  for (const Call& call : calls) run(call);
  report_refusal("inverse of a singular one", [] { torch::inverse(torch::zeros({2, 2})); });
  report_refusal("inverse of no square", [] { torch::inverse(x()); });
}
