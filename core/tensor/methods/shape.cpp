// Tensor methods that call the functions of ops/shape.h.
#include <ambit/error.h>
#include <ambit/ops/shape.h>
#include <fmt/format.h>

#include "core/tensor/methods/written.h"

namespace ambit {

Tensor Tensor::view(IntArrayRef sizes) const { return ambit::view(*this, sizes); }
Tensor Tensor::view(DType dtype) const { return ambit::view(*this, dtype); }
Tensor Tensor::reshape(IntArrayRef sizes) const { return ambit::reshape(*this, sizes); }
Tensor Tensor::transpose(int64_t dim0, int64_t dim1) const {
  return ambit::transpose(*this, dim0, dim1);
}
Tensor& Tensor::transpose_(int64_t dim0, int64_t dim1) const {
  return written(ambit::transpose_(*this, dim0, dim1));
}
Tensor Tensor::permute(IntArrayRef dims) const { return ambit::permute(*this, dims); }
Tensor Tensor::movedim(IntArrayRef source, IntArrayRef destination) const {
  return ambit::movedim(*this, source, destination);
}
Tensor Tensor::movedim(int64_t source, int64_t destination) const {
  return ambit::movedim(*this, source, destination);
}
Tensor Tensor::adjoint() const { return ambit::adjoint(*this); }
Tensor Tensor::t() const { return ambit::t(*this); }
Tensor& Tensor::t_() const { return written(ambit::t_(*this)); }
Tensor Tensor::squeeze() const { return ambit::squeeze(*this); }
Tensor Tensor::squeeze(int64_t dim) const { return ambit::squeeze(*this, dim); }
Tensor& Tensor::squeeze_() const { return written(ambit::squeeze_(*this)); }
Tensor& Tensor::squeeze_(int64_t dim) const { return written(ambit::squeeze_(*this, dim)); }
Tensor Tensor::squeeze(IntArrayRef dims) const { return ambit::squeeze(*this, dims); }
Tensor& Tensor::squeeze_(IntArrayRef dims) const { return written(ambit::squeeze_(*this, dims)); }
Tensor Tensor::unsqueeze(int64_t dim) const { return ambit::unsqueeze(*this, dim); }
Tensor& Tensor::unsqueeze_(int64_t dim) const { return written(ambit::unsqueeze_(*this, dim)); }
Tensor Tensor::expand(IntArrayRef sizes, [[maybe_unused]] bool implicit) const {
  return ambit::expand(*this, sizes);
}
Tensor& Tensor::as_strided_(IntArrayRef sizes, IntArrayRef strides,
                            std::optional<int64_t> storage_offset) const {
  return written(ambit::as_strided_(*this, sizes, strides, storage_offset));
}
Tensor& Tensor::resize_(IntArrayRef sizes, std::optional<MemoryFormat> format) const {
  return written(ambit::resize_(*this, sizes, format));
}
Tensor& Tensor::resize_as_(const Tensor& the_template, std::optional<MemoryFormat> format) const {
  return written(ambit::resize_as_(*this, the_template, format));
}
Tensor Tensor::repeat(IntArrayRef repeats) const { return ambit::repeat(*this, repeats); }
Tensor Tensor::select(int64_t dim, int64_t index) const { return ambit::select(*this, dim, index); }
Tensor Tensor::slice(int64_t dim, std::optional<int64_t> start, std::optional<int64_t> end,
                     int64_t step) const {
  return ambit::slice(*this, dim, start, end, step);
}
Tensor Tensor::narrow(int64_t dim, int64_t start, int64_t length) const {
  return ambit::narrow(*this, dim, start, length);
}
Tensor Tensor::narrow(int64_t dim, const Tensor& start, int64_t length) const {
  return ambit::narrow(*this, dim, start, length);
}
Tensor Tensor::unfold(int64_t dim, int64_t size, int64_t step) const {
  return ambit::unfold(*this, dim, size, step);
}
Tensor Tensor::diagonal(int64_t offset, int64_t dim1, int64_t dim2) const {
  return ambit::diagonal(*this, offset, dim1, dim2);
}
Tensor Tensor::flatten(int64_t start_dim, int64_t end_dim) const {
  return ambit::flatten(*this, start_dim, end_dim);
}
Tensor Tensor::ravel() const { return ambit::ravel(*this); }
Tensor Tensor::unflatten(int64_t dim, IntArrayRef sizes) const {
  return ambit::unflatten(*this, dim, sizes);
}
Tensor Tensor::as_strided(IntArrayRef sizes, IntArrayRef strides,
                          std::optional<int64_t> storage_offset) const {
  return ambit::as_strided(*this, sizes, strides, storage_offset);
}
Tensor Tensor::flip(IntArrayRef dims) const { return ambit::flip(*this, dims); }
std::vector<Tensor> Tensor::unbind(int64_t dim) const { return ambit::unbind(*this, dim); }
std::vector<Tensor> Tensor::split(int64_t split_size, int64_t dim) const {
  return ambit::split(*this, split_size, dim);
}
std::vector<Tensor> Tensor::split(IntArrayRef split_sizes, int64_t dim) const {
  return ambit::split(*this, split_sizes, dim);
}
std::vector<Tensor> Tensor::chunk(int64_t chunks, int64_t dim) const {
  return ambit::chunk(*this, chunks, dim);
}
std::vector<Tensor> Tensor::split_with_sizes(IntArrayRef split_sizes, int64_t dim) const {
  return ambit::split_with_sizes(*this, split_sizes, dim);
}
std::vector<Tensor> Tensor::unsafe_split(int64_t split_size, int64_t dim) const {
  return ambit::unsafe_split(*this, split_size, dim);
}
std::vector<Tensor> Tensor::unsafe_split_with_sizes(IntArrayRef split_sizes, int64_t dim) const {
  return ambit::unsafe_split_with_sizes(*this, split_sizes, dim);
}
std::vector<Tensor> Tensor::unsafe_chunk(int64_t chunks, int64_t dim) const {
  return ambit::unsafe_chunk(*this, chunks, dim);
}
std::vector<Tensor> Tensor::tensor_split(int64_t sections, int64_t dim) const {
  return ambit::tensor_split(*this, sections, dim);
}
std::vector<Tensor> Tensor::tensor_split(IntArrayRef indices, int64_t dim) const {
  return ambit::tensor_split(*this, indices, dim);
}
std::vector<Tensor> Tensor::tensor_split(const Tensor& tensor_indices_or_sections,
                                         int64_t dim) const {
  return ambit::tensor_split(*this, tensor_indices_or_sections, dim);
}
std::vector<Tensor> Tensor::hsplit(int64_t sections) const {
  return ambit::hsplit(*this, sections);
}
std::vector<Tensor> Tensor::hsplit(IntArrayRef indices) const {
  return ambit::hsplit(*this, indices);
}
std::vector<Tensor> Tensor::vsplit(int64_t sections) const {
  return ambit::vsplit(*this, sections);
}
std::vector<Tensor> Tensor::vsplit(IntArrayRef indices) const {
  return ambit::vsplit(*this, indices);
}
std::vector<Tensor> Tensor::dsplit(int64_t sections) const {
  return ambit::dsplit(*this, sections);
}
std::vector<Tensor> Tensor::dsplit(IntArrayRef indices) const {
  return ambit::dsplit(*this, indices);
}
Tensor Tensor::mT() const { return ambit::adjoint(*this); }
Tensor Tensor::mH() const { return ambit::adjoint(*this); }
Tensor Tensor::matrix_H() const {
  if (dim() == 0) return *this;
  if (dim() != 2) {
    throw ShapeError(fmt::format("matrix_H: expected a matrix, got shape {}", ambit::str(sizes())));
  }
  return ambit::t(*this);
}
Tensor Tensor::numpy_T() const {
  Dims dims;
  for (int64_t d = dim(); d-- > 0;) dims.push_back(d);
  return ambit::permute(*this, dims);
}

}  // namespace ambit
