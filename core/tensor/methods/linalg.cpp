// Tensor methods that call the functions of ops/linalg.h.
#include <ambit/ops/linalg.h>
#include <ambit/tensor.h>

namespace ambit {

Tensor Tensor::inverse() const { return ambit::inverse(*this); }
Tensor Tensor::det() const { return ambit::det(*this); }
Tensor Tensor::logdet() const { return ambit::logdet(*this); }
std::tuple<Tensor, Tensor> Tensor::slogdet() const { return ambit::slogdet(*this); }
Tensor Tensor::cholesky(bool upper) const { return ambit::cholesky(*this, upper); }
Tensor Tensor::cholesky_inverse(bool upper) const { return ambit::cholesky_inverse(*this, upper); }
Tensor Tensor::cholesky_solve(const Tensor& input2, bool upper) const {
  return ambit::cholesky_solve(*this, input2, upper);
}
std::tuple<Tensor, Tensor> Tensor::qr(bool some) const { return ambit::qr(*this, some); }
std::tuple<Tensor, Tensor> Tensor::geqrf() const { return ambit::geqrf(*this); }
Tensor Tensor::orgqr(const Tensor& input2) const { return ambit::orgqr(*this, input2); }
Tensor Tensor::ormqr(const Tensor& input2, const Tensor& input3, bool left, bool transpose) const {
  return ambit::ormqr(*this, input2, input3, left, transpose);
}
std::tuple<Tensor, Tensor, Tensor> Tensor::svd(bool some, bool compute_uv) const {
  return ambit::svd(*this, some, compute_uv);
}
Tensor Tensor::pinverse(double rcond) const { return ambit::pinverse(*this, rcond); }
std::tuple<Tensor, Tensor> Tensor::triangular_solve(const Tensor& A, bool upper, bool transpose,
                                                    bool unitriangular) const {
  return ambit::triangular_solve(*this, A, upper, transpose, unitriangular);
}
std::tuple<Tensor, Tensor> Tensor::symeig(bool eigenvectors, bool upper) const {
  return ambit::symeig(*this, eigenvectors, upper);
}
Tensor Tensor::lu_solve(const Tensor& LU_data, const Tensor& LU_pivots) const {
  return ambit::lu_solve(*this, LU_data, LU_pivots);
}

}  // namespace ambit
