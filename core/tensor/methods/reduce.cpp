// Tensor methods that call the functions of ops/reduce.h.
#include <ambit/ops/reduce.h>

#include "written.h"

namespace ambit {

Tensor Tensor::sum(std::optional<DType> dtype) const { return ambit::sum(*this, dtype); }
Tensor Tensor::sum(IntArrayRef dims, bool keepdim, std::optional<DType> dtype) const {
  return ambit::sum(*this, dims, keepdim, dtype);
}
Tensor Tensor::sum(int64_t dim, bool keepdim, std::optional<DType> dtype) const {
  return ambit::sum(*this, IntArrayRef({dim}), keepdim, dtype);
}
Tensor Tensor::nansum(IntArrayRef dims, bool keepdim, std::optional<DType> dtype) const {
  return ambit::nansum(*this, dims, keepdim, dtype);
}
Tensor Tensor::sum_to_size(IntArrayRef sizes) const { return ambit::sum_to_size(*this, sizes); }
Tensor Tensor::count_nonzero(IntArrayRef dims) const { return ambit::count_nonzero(*this, dims); }
Tensor Tensor::count_nonzero(std::optional<int64_t> dim) const {
  return ambit::count_nonzero(*this, dim);
}
Tensor Tensor::mean(std::optional<DType> dtype) const { return ambit::mean(*this, dtype); }
Tensor Tensor::mean(IntArrayRef dims, bool keepdim, std::optional<DType> dtype) const {
  return ambit::mean(*this, dims, keepdim, dtype);
}
Tensor Tensor::mean(int64_t dim, bool keepdim, std::optional<DType> dtype) const {
  return ambit::mean(*this, IntArrayRef({dim}), keepdim, dtype);
}
Tensor Tensor::nanmean(IntArrayRef dims, bool keepdim, std::optional<DType> dtype) const {
  return ambit::nanmean(*this, dims, keepdim, dtype);
}
Tensor Tensor::prod(std::optional<DType> dtype) const { return ambit::prod(*this, dtype); }
Tensor Tensor::prod(int64_t dim, bool keepdim, std::optional<DType> dtype) const {
  return ambit::prod(*this, dim, keepdim, dtype);
}
Tensor Tensor::var(bool unbiased) const { return ambit::var(*this, unbiased); }
Tensor Tensor::var(IntArrayRef dims, bool unbiased, bool keepdim) const {
  return ambit::var(*this, dims, unbiased, keepdim);
}
Tensor Tensor::var(IntArrayRef dims, const std::optional<Scalar>& correction, bool keepdim) const {
  return ambit::var(*this, dims, correction, keepdim);
}
Tensor Tensor::std(bool unbiased) const { return ambit::std(*this, unbiased); }
Tensor Tensor::std(IntArrayRef dims, bool unbiased, bool keepdim) const {
  return ambit::std(*this, dims, unbiased, keepdim);
}
Tensor Tensor::std(IntArrayRef dims, const std::optional<Scalar>& correction, bool keepdim) const {
  return ambit::std(*this, dims, correction, keepdim);
}
Tensor Tensor::max() const { return ambit::max(*this); }
Tensor Tensor::min() const { return ambit::min(*this); }
std::tuple<Tensor, Tensor> Tensor::max(int64_t dim, bool keepdim) const {
  return ambit::max(*this, dim, keepdim);
}
std::tuple<Tensor, Tensor> Tensor::min(int64_t dim, bool keepdim) const {
  return ambit::min(*this, dim, keepdim);
}
Tensor Tensor::amax(IntArrayRef dims, bool keepdim) const {
  return ambit::amax(*this, dims, keepdim);
}
Tensor Tensor::amin(IntArrayRef dims, bool keepdim) const {
  return ambit::amin(*this, dims, keepdim);
}
std::tuple<Tensor, Tensor> Tensor::aminmax(std::optional<int64_t> dim, bool keepdim) const {
  return ambit::aminmax(*this, dim, keepdim);
}
Tensor Tensor::argmax(std::optional<int64_t> dim, bool keepdim) const {
  return ambit::argmax(*this, dim, keepdim);
}
Tensor Tensor::argmin(std::optional<int64_t> dim, bool keepdim) const {
  return ambit::argmin(*this, dim, keepdim);
}
Tensor Tensor::any() const { return ambit::any(*this); }
Tensor Tensor::any(int64_t dim, bool keepdim) const { return ambit::any(*this, dim, keepdim); }
Tensor Tensor::any(OptionalIntArrayRef dims, bool keepdim) const {
  return ambit::any(*this, dims, keepdim);
}
Tensor Tensor::all() const { return ambit::all(*this); }
Tensor Tensor::all(int64_t dim, bool keepdim) const { return ambit::all(*this, dim, keepdim); }
Tensor Tensor::all(OptionalIntArrayRef dims, bool keepdim) const {
  return ambit::all(*this, dims, keepdim);
}
Tensor Tensor::hash_tensor(IntArrayRef dims, bool keepdim, int64_t mode) const {
  return ambit::hash_tensor(*this, dims, keepdim, mode);
}
Tensor Tensor::norm(const Scalar& p) const { return ambit::norm(*this, p); }
Tensor Tensor::norm(const std::optional<Scalar>& p, DType dtype) const {
  return ambit::norm(*this, p, dtype);
}
Tensor Tensor::norm(const std::optional<Scalar>& p, IntArrayRef dims, bool keepdim) const {
  return ambit::norm(*this, p, dims, keepdim);
}
Tensor Tensor::norm(const std::optional<Scalar>& p, IntArrayRef dims, bool keepdim,
                    DType dtype) const {
  return ambit::norm(*this, p, dims, keepdim, dtype);
}
Tensor Tensor::dist(const Tensor& o, const Scalar& p) const { return ambit::dist(*this, o, p); }
Tensor Tensor::renorm(const Scalar& p, int64_t dim, const Scalar& maxnorm) const {
  return ambit::renorm(*this, p, dim, maxnorm);
}
Tensor& Tensor::renorm_(const Scalar& p, int64_t dim, const Scalar& maxnorm) const {
  return written(ambit::renorm_(*this, p, dim, maxnorm));
}
Tensor Tensor::logsumexp(IntArrayRef dims, bool keepdim) const {
  return ambit::logsumexp(*this, dims, keepdim);
}

}  // namespace ambit
