// Matrix product of integers.
#pragma once

#include <cstdint>

namespace ambit::cpu {

/// A matrix in memory, with arbitrary strides in elements.
template <class T>
struct Matrix {
  T* data;
  int64_t row_stride, column_stride;
};

/// y [M,N] = a [M,K] b [K,N], y row-major, on the calling thread. Integers wrap.
template <class T>
void gemm(int64_t M, int64_t N, int64_t K, const Matrix<T>& y, const Matrix<const T>& a,
          const Matrix<const T>& b);

}  // namespace ambit::cpu
