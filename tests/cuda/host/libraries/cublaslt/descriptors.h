// cuBLASLt's descriptors. As in the real library, setters check only sizes; the values are checked
// when a product is requested.
#pragma once

#include <cublasLt.h>

#include <array>
#include <bit>
#include <cstdint>
#include <cstring>

#include "tests/cuda/host/libraries/live.h"

/// A handle, bound to the device that was current.
struct cublasLtContext {
  int device = 0;
};

namespace ambit::cuda::host::cublaslt {

/// Attributes by number, each in the low bytes of a word. `sizes` has their sizes in bytes, 0 for
/// undefined numbers.
template <size_t N>
class Attributes {
 public:
  explicit Attributes(const std::array<uint8_t, N>& sizes) : sizes_(sizes) {}

  template <class T>
  T get(int name) const {
    T value;
    static_assert(std::endian::native == std::endian::little);
    std::memcpy(&value, &words_[static_cast<size_t>(name)], sizeof(T));
    return value;
  }
  /// INVALID_VALUE: unknown attribute, null value, or another size.
  cublasStatus_t set(int name, const void* value, size_t bytes) {
    const auto i = static_cast<size_t>(name);
    if (name < 0 || i >= N || sizes_[i] == 0 || !value || bytes != sizes_[i]) {
      return CUBLAS_STATUS_INVALID_VALUE;
    }
    words_[i] = 0;
    std::memcpy(&words_[i], value, bytes);
    return CUBLAS_STATUS_SUCCESS;
  }
  template <class T>
  void put(int name, T value) {
    set(name, &value, sizeof(value));
  }

 private:
  const std::array<uint8_t, N>& sizes_;
  std::array<uint64_t, N> words_{};
};

struct MatmulDesc : Attributes<39> {
  MatmulDesc(cublasComputeType_t compute, cudaDataType_t scale);
};
struct MatrixLayout : Attributes<9> {
  MatrixLayout(cudaDataType_t type, uint64_t rows, uint64_t columns, int64_t ld);
};
struct Preference : Attributes<13> {
  Preference();
};

Live<cublasLtContext>& handles();
Live<MatmulDesc>& matmul_descs();
Live<MatrixLayout>& layouts();
Live<Preference>& preferences();

}  // namespace ambit::cuda::host::cublaslt
