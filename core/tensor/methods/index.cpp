// Tensor methods that call the functions of ops/index.h.
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
Tensor Tensor::masked_fill(const Tensor& mask, const Tensor& value) const {
  return ambit::masked_fill(*this, mask, value);
}
Tensor& Tensor::masked_fill_(const Tensor& mask, const Tensor& value) const {
  return written(ambit::masked_fill_(*this, mask, value));
}
Tensor& Tensor::masked_fill_(const Tensor& mask, const Scalar& value) const {
  return written(ambit::masked_fill_(*this, mask, value));
}
Tensor Tensor::nonzero() const { return ambit::nonzero(*this); }
Tensor Tensor::nonzero_static(int64_t size, int64_t fill_value) const {
  return ambit::nonzero_static(*this, size, fill_value);
}
Tensor Tensor::index(const std::vector<indexing::TensorIndex>& indices) const {
  return ambit::index(*this, indices);
}
Tensor Tensor::index(ArrayRef<indexing::TensorIndex> indices) const {
  return ambit::index(*this, indices.vec());
}
Tensor Tensor::index(const std::vector<std::optional<Tensor>>& indices) const {
  return ambit::index(*this, indices);
}
Tensor& Tensor::index_put_(const std::vector<indexing::TensorIndex>& indices, const Tensor& value,
                           bool accumulate) const {
  return written(ambit::index_put_(*this, indices, value, accumulate));
}
Tensor& Tensor::index_put_(const std::vector<indexing::TensorIndex>& indices,
                           const Scalar& value) const {
  return written(ambit::index_put_(*this, indices, value));
}
Tensor& Tensor::index_put_(const std::vector<std::optional<Tensor>>& indices, const Tensor& value,
                           bool accumulate) const {
  return written(ambit::index_put_(*this, indices, value, accumulate));
}
Tensor Tensor::index_put(const std::vector<std::optional<Tensor>>& indices, const Tensor& value,
                         bool accumulate) const {
  return ambit::index_put(*this, indices, value, accumulate);
}
Tensor Tensor::scatter(int64_t dim, const Tensor& index, const Scalar& value) const {
  return ambit::scatter(*this, dim, index, value);
}
Tensor Tensor::scatter(int64_t dim, const Tensor& index, const Tensor& src,
                       std::string_view reduce) const {
  return ambit::scatter(*this, dim, index, src, reduce);
}
Tensor Tensor::scatter(int64_t dim, const Tensor& index, const Scalar& value,
                       std::string_view reduce) const {
  return ambit::scatter(*this, dim, index, value, reduce);
}
Tensor Tensor::scatter_reduce(int64_t dim, const Tensor& index, const Tensor& src,
                              std::string_view reduce, bool include_self) const {
  return ambit::scatter_reduce(*this, dim, index, src, reduce, include_self);
}
Tensor& Tensor::scatter_(int64_t dim, const Tensor& index, const Scalar& value) const {
  return written(ambit::scatter_(*this, dim, index, value));
}
Tensor& Tensor::scatter_(int64_t dim, const Tensor& index, const Tensor& src,
                         std::string_view reduce) const {
  return written(ambit::scatter_(*this, dim, index, src, reduce));
}
Tensor& Tensor::scatter_(int64_t dim, const Tensor& index, const Scalar& value,
                         std::string_view reduce) const {
  return written(ambit::scatter_(*this, dim, index, value, reduce));
}
Tensor& Tensor::scatter_reduce_(int64_t dim, const Tensor& index, const Tensor& src,
                                std::string_view reduce, bool include_self) const {
  return written(ambit::scatter_reduce_(*this, dim, index, src, reduce, include_self));
}
Tensor Tensor::index_add(int64_t dim, const Tensor& index, const Tensor& source,
                         const Scalar& alpha) const {
  return ambit::index_add(*this, dim, index, source, alpha);
}
Tensor& Tensor::index_add_(int64_t dim, const Tensor& index, const Tensor& source,
                           const Scalar& alpha) const {
  return written(ambit::index_add_(*this, dim, index, source, alpha));
}
Tensor Tensor::index_copy(int64_t dim, const Tensor& index, const Tensor& source) const {
  return ambit::index_copy(*this, dim, index, source);
}
Tensor& Tensor::index_copy_(int64_t dim, const Tensor& index, const Tensor& source) const {
  return written(ambit::index_copy_(*this, dim, index, source));
}
Tensor Tensor::index_fill(int64_t dim, const Tensor& index, const Scalar& value) const {
  return ambit::index_fill(*this, dim, index, value);
}
Tensor Tensor::index_fill(int64_t dim, const Tensor& index, const Tensor& value) const {
  return ambit::index_fill(*this, dim, index, value);
}
Tensor& Tensor::index_fill_(int64_t dim, const Tensor& index, const Scalar& value) const {
  return written(ambit::index_fill_(*this, dim, index, value));
}
Tensor& Tensor::index_fill_(int64_t dim, const Tensor& index, const Tensor& value) const {
  return written(ambit::index_fill_(*this, dim, index, value));
}
Tensor Tensor::index_reduce(int64_t dim, const Tensor& index, const Tensor& source,
                            std::string_view reduce, bool include_self) const {
  return ambit::index_reduce(*this, dim, index, source, reduce, include_self);
}
Tensor& Tensor::index_reduce_(int64_t dim, const Tensor& index, const Tensor& source,
                              std::string_view reduce, bool include_self) const {
  return written(ambit::index_reduce_(*this, dim, index, source, reduce, include_self));
}
Tensor Tensor::take(const Tensor& index) const { return ambit::take(*this, index); }
Tensor Tensor::put(const Tensor& index, const Tensor& source, bool accumulate) const {
  return ambit::put(*this, index, source, accumulate);
}
Tensor& Tensor::put_(const Tensor& index, const Tensor& source, bool accumulate) const {
  return written(ambit::put_(*this, index, source, accumulate));
}
Tensor Tensor::masked_scatter(const Tensor& mask, const Tensor& source) const {
  return ambit::masked_scatter(*this, mask, source);
}
Tensor& Tensor::masked_scatter_(const Tensor& mask, const Tensor& source) const {
  return written(ambit::masked_scatter_(*this, mask, source));
}
Tensor Tensor::argwhere() const { return ambit::argwhere(*this); }
std::vector<Tensor> Tensor::nonzero_numpy() const { return ambit::nonzero_numpy(*this); }
Tensor& Tensor::fill_diagonal_(const Scalar& fill_value, bool wrap) const {
  return written(ambit::fill_diagonal_(*this, fill_value, wrap));
}
Tensor Tensor::select_scatter(const Tensor& src, int64_t dim, int64_t index) const {
  return ambit::select_scatter(*this, src, dim, index);
}
Tensor Tensor::diagonal_scatter(const Tensor& src, int64_t offset, int64_t dim1,
                                int64_t dim2) const {
  return ambit::diagonal_scatter(*this, src, offset, dim1, dim2);
}
Tensor Tensor::take_along_dim(const Tensor& indices, std::optional<int64_t> dim) const {
  return ambit::take_along_dim(*this, indices, dim);
}
Tensor Tensor::slice_scatter(const Tensor& src, int64_t dim, std::optional<int64_t> start,
                             std::optional<int64_t> end, int64_t step) const {
  return ambit::slice_scatter(*this, src, dim, start, end, step);
}
Tensor Tensor::as_strided_scatter(const Tensor& src, IntArrayRef size, IntArrayRef stride,
                                  std::optional<int64_t> storage_offset) const {
  return ambit::as_strided_scatter(*this, src, size, stride, storage_offset);
}

}  // namespace ambit
