// Tensor methods that call the functions of ops/samples.h.
#include <ambit/ops/samples.h>

namespace ambit {

Tensor Tensor::diff(int64_t n, int64_t dim, const Tensor& prepend, const Tensor& append) const {
  return ambit::diff(*this, n, dim, prepend, append);
}
Tensor Tensor::cov(int64_t correction, const Tensor& fweights, const Tensor& aweights) const {
  return ambit::cov(*this, correction, fweights, aweights);
}
Tensor Tensor::corrcoef() const { return ambit::corrcoef(*this); }

}  // namespace ambit
