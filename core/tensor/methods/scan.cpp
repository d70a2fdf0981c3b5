// Tensor methods that call the functions of ops/scan.h.
#include <ambit/ops/scan.h>

#include "core/tensor/methods/written.h"

namespace ambit {

Tensor Tensor::cumsum(int64_t dim, std::optional<DType> dtype) const {
  return ambit::cumsum(*this, dim, dtype);
}
Tensor& Tensor::cumsum_(int64_t dim, std::optional<DType> dtype) const {
  return written(ambit::cumsum_(*this, dim, dtype));
}
Tensor Tensor::cumprod(int64_t dim, std::optional<DType> dtype) const {
  return ambit::cumprod(*this, dim, dtype);
}
Tensor& Tensor::cumprod_(int64_t dim, std::optional<DType> dtype) const {
  return written(ambit::cumprod_(*this, dim, dtype));
}
Tensor Tensor::logcumsumexp(int64_t dim) const { return ambit::logcumsumexp(*this, dim); }
std::tuple<Tensor, Tensor> Tensor::cummax(int64_t dim) const { return ambit::cummax(*this, dim); }
std::tuple<Tensor, Tensor> Tensor::cummin(int64_t dim) const { return ambit::cummin(*this, dim); }

}  // namespace ambit
