// Tensors over memory that others hold, for the step from an op to its kernel: an alias has the
// bytes of another tensor, is in no graph, and counts as nobody's view.
#pragma once

#include <ambit/tensor.h>

#include <utility>

namespace ambit {

/// Return an alias of t's storage with another geometry, in elements of the storage.
inline Tensor alias(const Tensor& t, IntArrayRef sizes, IntArrayRef strides, int64_t offset) {
  intrusive_ptr<TensorImpl> impl(new TensorImpl(t.storage(), sizes, strides, offset, t.dtype()));
  impl->writes = t.impl()->writes;
  return Tensor(std::move(impl));
}

/// The same from t's first element on.
inline Tensor alias(const Tensor& t, IntArrayRef sizes, IntArrayRef strides) {
  return alias(t, sizes, strides, t.storage_offset());
}

/// The same with row-major strides: the elements of a contiguous t in other sizes.
inline Tensor alias(const Tensor& t, IntArrayRef sizes) {
  return alias(t, sizes, contiguous_strides(sizes));
}

/// Return a tensor of t's sizes and dtype in another storage, from its start on.
inline Tensor alias(const Tensor& t, Storage storage, IntArrayRef strides) {
  return Tensor(intrusive_ptr<TensorImpl>(
      new TensorImpl(std::move(storage), t.sizes(), strides, 0, t.dtype())));
}

/// Return a CPU tensor of t's geometry over other memory: `bytes` is where the host finds what is
/// at t.storage()->data(). It owns nothing: the bytes must outlast it.
inline Tensor alias(const Tensor& t, void* bytes) {
  Storage storage(new StorageImpl(bytes, t.storage()->size_bytes(), nullptr));
  return Tensor(intrusive_ptr<TensorImpl>(
      new TensorImpl(std::move(storage), t.sizes(), t.strides(), t.storage_offset(), t.dtype())));
}

}  // namespace ambit
