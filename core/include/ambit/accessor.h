// TensorAccessor: element access by index from host code: `auto a = x.accessor<float, 2>(); a[i][j]
// = 1;`. No bounds check, no op per element; it does not keep the tensor alive.
#pragma once

#include <ambit/tensor.h>

#include <cstdint>

namespace ambit {

/// The plain pointer type of an accessor.
template <class T>
struct DefaultPtrTraits {
  using PtrType = T*;  ///< the pointer type
};
/// A pointer type with __restrict__; on the host it behaves as the plain one.
template <class T>
struct RestrictPtrTraits {
  using PtrType = T* __restrict__;  ///< the pointer type
};

/// View of N dims of elements of type T: a[i] is a view with one dim less, or the element if N is
/// 1. Sizes and strides are in elements; indices are not checked.
template <class T, size_t N, template <class> class PtrTraits = DefaultPtrTraits,
          class Index = int64_t>
class TensorAccessor {
 public:
  using PtrType = typename PtrTraits<T>::PtrType;  ///< the pointer type

  /// A view of elements at `data`; sizes and strides, N numbers each, must outlive it.
  AMBIT_HOST_DEVICE TensorAccessor(PtrType data, const Index* sizes, const Index* strides)
      : data_(data), sizes_(sizes), strides_(strides) {}

  /// Return row i, a view of N - 1 dims, or for N = 1 the element. i is not checked.
  AMBIT_HOST_DEVICE decltype(auto) operator[](Index i) const {
    const PtrType at = data_ + strides_[0] * i;
    if constexpr (N == 1) {
      return static_cast<T&>(*at);
    } else {
      return TensorAccessor<T, N - 1, PtrTraits, Index>(at, sizes_ + 1, strides_ + 1);
    }
  }
  AMBIT_HOST_DEVICE PtrType data() const { return data_; }                   ///< first element
  ArrayRef<Index> sizes() const { return {sizes_, N}; }                      ///< host only
  ArrayRef<Index> strides() const { return {strides_, N}; }                  ///< host only
  AMBIT_HOST_DEVICE Index size(Index dim) const { return sizes_[dim]; }      ///< dim in [0, N)
  AMBIT_HOST_DEVICE Index stride(Index dim) const { return strides_[dim]; }  ///< dim in [0, N)

 private:
  PtrType data_;
  const Index *sizes_, *strides_;
};

/// A TensorAccessor that owns its sizes and strides, so that it can be passed to a kernel by value.
template <class T, size_t N, template <class> class PtrTraits = DefaultPtrTraits,
          class Index = int64_t>
class PackedTensorAccessor {
 public:
  using PtrType = typename PtrTraits<T>::PtrType;  ///< the pointer type

  /// A view of elements at `data`; sizes and strides, N numbers each, are copied.
  PackedTensorAccessor(PtrType data, IntArrayRef sizes, IntArrayRef strides) : data_(data) {
    for (size_t d = 0; d < N; ++d) {
      sizes_[d] = static_cast<Index>(sizes[d]);
      strides_[d] = static_cast<Index>(strides[d]);
    }
  }

  /// Return row i, a TensorAccessor of N - 1 dims that refers to this object, or the element.
  AMBIT_HOST_DEVICE decltype(auto) operator[](Index i) const {
    return TensorAccessor<T, N, PtrTraits, Index>(data_, sizes_, strides_)[i];
  }
  AMBIT_HOST_DEVICE PtrType data() const { return data_; }                   ///< first element
  AMBIT_HOST_DEVICE Index size(Index dim) const { return sizes_[dim]; }      ///< dim in [0, N)
  AMBIT_HOST_DEVICE Index stride(Index dim) const { return strides_[dim]; }  ///< dim in [0, N)

 private:
  PtrType data_;
  Index sizes_[N], strides_[N];
};

/// An accessor with sizes and strides of 32 bits, which are faster in device code.
template <class T, size_t N, template <class> class PtrTraits = DefaultPtrTraits>
using PackedTensorAccessor32 = PackedTensorAccessor<T, N, PtrTraits, int32_t>;
/// An accessor with sizes and strides of 64 bits.
template <class T, size_t N, template <class> class PtrTraits = DefaultPtrTraits>
using PackedTensorAccessor64 = PackedTensorAccessor<T, N, PtrTraits, int64_t>;

/// @cond
template <class T, size_t N>
TensorAccessor<T, N, DefaultPtrTraits, int64_t> Tensor::accessor() const& {
  static_assert(N > 0, "accessor: for a tensor without dims use item() or data_ptr()");
  check_accessor("accessor", N, INT64_MAX);
  return {data_ptr<T>(), sizes().data(), strides().data()};
}

template <class T, size_t N, template <class> class PtrTraits>
PackedTensorAccessor<T, N, PtrTraits, int32_t> Tensor::packed_accessor32() const& {
  static_assert(N > 0, "packed_accessor32: for a tensor without dims use item() or data_ptr()");
  check_accessor("packed_accessor32", N, INT32_MAX);
  return {data_ptr<T>(), sizes(), strides()};
}

template <class T, size_t N, template <class> class PtrTraits>
PackedTensorAccessor<T, N, PtrTraits, int64_t> Tensor::packed_accessor64() const& {
  static_assert(N > 0, "packed_accessor64: for a tensor without dims use item() or data_ptr()");
  check_accessor("packed_accessor64", N, INT64_MAX);
  return {data_ptr<T>(), sizes(), strides()};
}
/// @endcond

}  // namespace ambit
