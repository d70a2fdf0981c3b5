// Matrix products of float32 and float64 on all threads.
#pragma once

#include "gemm.h"

namespace ambit::cpu {

/// y [M,N], row-major, = a [M,K] b [K,N] + bias [N], which may be null; nothing is empty.
template <class T>
struct Product {
  int64_t M, N, K;
  Matrix<const T> a, b;
  const T* bias = nullptr;
  int64_t bias_stride = 1;
};

/// On the threads that are free. In what order an element is summed up depends on the sizes alone.
/// T: float, double. Errors: OutOfMemoryError.
template <class T>
void multiply(const Product<T>& p, T* y);

}  // namespace ambit::cpu
