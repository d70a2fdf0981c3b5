// The methods of Tensor that are the functions of ops/index.h.
#include <ambit/ops/elementwise.h>
#include <ambit/ops/index.h>

#include "core/tensor/methods/written.h"

namespace ambit {

Tensor Tensor::operator[](const Tensor& index) const { return ambit::index(*this, {index}); }
Tensor Tensor::index(std::initializer_list<indexing::TensorIndex> indices) const {
  return ambit::index(*this, indices);
}
Tensor& Tensor::index_put_(std::initializer_list<indexing::TensorIndex> indices,
                           const Tensor& value, bool accumulate) const {
  return written(ambit::index_put_(*this, indices, value, accumulate));
}
Tensor& Tensor::index_put_(std::initializer_list<indexing::TensorIndex> indices,
                           const Scalar& value) const {
  return written(ambit::index_put_(*this, indices, value));
}
Tensor Tensor::index_select(int64_t dim, const Tensor& index) const {
  return ambit::index_select(*this, dim, index);
}
Tensor Tensor::gather(int64_t dim, const Tensor& index, bool sparse_grad) const {
  return ambit::gather(*this, dim, index, sparse_grad);
}
Tensor Tensor::scatter(int64_t dim, const Tensor& index, const Tensor& src) const {
  return ambit::scatter(*this, dim, index, src);
}
Tensor Tensor::scatter_add(int64_t dim, const Tensor& index, const Tensor& src) const {
  return ambit::scatter_add(*this, dim, index, src);
}
Tensor& Tensor::scatter_(int64_t dim, const Tensor& index, const Tensor& src) const {
  return written(ambit::scatter_(*this, dim, index, src));
}
Tensor& Tensor::scatter_add_(int64_t dim, const Tensor& index, const Tensor& src) const {
  return written(ambit::scatter_add_(*this, dim, index, src));
}
Tensor Tensor::masked_select(const Tensor& mask) const { return ambit::masked_select(*this, mask); }
Tensor Tensor::masked_fill(const Tensor& mask, const Scalar& value) const {
  return ambit::masked_fill(*this, mask, value);
}
Tensor& Tensor::masked_fill_(const Tensor& mask, const Scalar& value) const {
  return written(ambit::masked_fill_(*this, mask, value));
}
Tensor Tensor::nonzero() const { return ambit::nonzero(*this); }

}  // namespace ambit
