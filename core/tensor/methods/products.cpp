// Tensor methods that call the functions of ops/products.h.
#include <ambit/ops/products.h>

namespace ambit {

Tensor Tensor::kron(const Tensor& o) const { return ambit::kron(*this, o); }
Tensor Tensor::cross(const Tensor& o, std::optional<int64_t> dim) const {
  return ambit::cross(*this, o, dim);
}
Tensor Tensor::matrix_power(int64_t n) const { return ambit::matrix_power(*this, n); }
Tensor Tensor::matrix_exp() const { return ambit::matrix_exp(*this); }
Tensor Tensor::trace() const { return ambit::trace(*this); }

}  // namespace ambit
