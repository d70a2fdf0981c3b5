// Aliases: tensors over the memory of another tensor, passed from an op to its kernel. They are not
// in the graph and not tracked as views.
#pragma once

#include <ambit/tensor.h>

#include <utility>

namespace ambit {

/// Return an alias of t's storage with another geometry; strides and offset in elements.
inline Tensor alias(const Tensor& t, IntArrayRef sizes, IntArrayRef strides, int64_t offset) {
  intrusive_ptr<TensorImpl> impl(new TensorImpl(t.storage(), sizes, strides, offset, t.dtype()));
  impl->writes = t.impl()->writes;
  return Tensor(std::move(impl));
}

/// As above, starting at t's first element.
inline Tensor alias(const Tensor& t, IntArrayRef sizes, IntArrayRef strides) {
  return alias(t, sizes, strides, t.storage_offset());
}

/// As above, with row-major strides: a contiguous t with other sizes.
inline Tensor alias(const Tensor& t, IntArrayRef sizes) {
  return alias(t, sizes, contiguous_strides(sizes));
}

/// Return a tensor of t's sizes and dtype at the start of another storage.
inline Tensor alias(const Tensor& t, Storage storage, IntArrayRef strides) {
  return Tensor(intrusive_ptr<TensorImpl>(
      new TensorImpl(std::move(storage), t.sizes(), strides, 0, t.dtype())));
}

/// Return a CPU tensor of t's geometry over other memory: `bytes` is the host address of the data
/// at t.storage()->data(). It owns nothing: the bytes must outlive it.
inline Tensor alias(const Tensor& t, void* bytes) {
  Storage storage(new StorageImpl(bytes, t.storage()->size_bytes(), nullptr));
  return Tensor(intrusive_ptr<TensorImpl>(
      new TensorImpl(std::move(storage), t.sizes(), t.strides(), t.storage_offset(), t.dtype())));
}

}  // namespace ambit
