// Tensor methods that call the functions of ops/matmul.h.
#include <ambit/ops/matmul.h>

#include "core/tensor/methods/written.h"

namespace ambit {

Tensor Tensor::matmul(const Tensor& o) const { return ambit::matmul(*this, o); }
Tensor Tensor::mm(const Tensor& o) const { return ambit::mm(*this, o); }
Tensor Tensor::bmm(const Tensor& o) const { return ambit::bmm(*this, o); }
Tensor Tensor::mv(const Tensor& o) const { return ambit::mv(*this, o); }
Tensor Tensor::dot(const Tensor& o) const { return ambit::dot(*this, o); }
Tensor Tensor::vdot(const Tensor& o) const { return ambit::vdot(*this, o); }
Tensor Tensor::outer(const Tensor& vec2) const { return ambit::outer(*this, vec2); }
Tensor Tensor::ger(const Tensor& vec2) const { return ambit::ger(*this, vec2); }
Tensor Tensor::inner(const Tensor& o) const { return ambit::inner(*this, o); }
Tensor Tensor::addmm(const Tensor& mat1, const Tensor& mat2, const Scalar& beta,
                     const Scalar& alpha) const {
  return ambit::addmm(*this, mat1, mat2, beta, alpha);
}
Tensor& Tensor::addmm_(const Tensor& mat1, const Tensor& mat2, const Scalar& beta,
                       const Scalar& alpha) const {
  return written(ambit::addmm_(*this, mat1, mat2, beta, alpha));
}
Tensor Tensor::addmv(const Tensor& mat, const Tensor& vec, const Scalar& beta,
                     const Scalar& alpha) const {
  return ambit::addmv(*this, mat, vec, beta, alpha);
}
Tensor& Tensor::addmv_(const Tensor& mat, const Tensor& vec, const Scalar& beta,
                       const Scalar& alpha) const {
  return written(ambit::addmv_(*this, mat, vec, beta, alpha));
}
Tensor Tensor::addr(const Tensor& vec1, const Tensor& vec2, const Scalar& beta,
                    const Scalar& alpha) const {
  return ambit::addr(*this, vec1, vec2, beta, alpha);
}
Tensor& Tensor::addr_(const Tensor& vec1, const Tensor& vec2, const Scalar& beta,
                      const Scalar& alpha) const {
  return written(ambit::addr_(*this, vec1, vec2, beta, alpha));
}
Tensor Tensor::baddbmm(const Tensor& batch1, const Tensor& batch2, const Scalar& beta,
                       const Scalar& alpha) const {
  return ambit::baddbmm(*this, batch1, batch2, beta, alpha);
}
Tensor& Tensor::baddbmm_(const Tensor& batch1, const Tensor& batch2, const Scalar& beta,
                         const Scalar& alpha) const {
  return written(ambit::baddbmm_(*this, batch1, batch2, beta, alpha));
}
Tensor Tensor::addbmm(const Tensor& batch1, const Tensor& batch2, const Scalar& beta,
                      const Scalar& alpha) const {
  return ambit::addbmm(*this, batch1, batch2, beta, alpha);
}
Tensor& Tensor::addbmm_(const Tensor& batch1, const Tensor& batch2, const Scalar& beta,
                        const Scalar& alpha) const {
  return written(ambit::addbmm_(*this, batch1, batch2, beta, alpha));
}

}  // namespace ambit
