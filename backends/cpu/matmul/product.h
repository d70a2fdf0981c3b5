// Matrix products of float32 and float64 on all threads.
#pragma once

#include <cstddef>

#include "gemm.h"

namespace ambit::cpu {

/// y [M,N], row-major, = a [M,K] b [K,N] + bias [N]; bias may be null; no dim is 0.
template <class T>
struct Product {
  int64_t M, N, K;
  Matrix<const T> a, b;
  const T* bias = nullptr;
  int64_t bias_stride = 1;
};

/// Compute on all free threads. The summation order depends only on the sizes.
/// T: float, double. Errors: OutOfMemoryError.
template <class T>
void multiply(const Product<T>& p, T* y);

/// Return true if multiply_packed() is faster with this number of rows than a product of oneDNN,
/// which packs b in each call. Measured for N = 10 to 3072: 0.12 to 1.05 of the time with AVX-512
/// and 4 to 256 rows, 0.28 to 1.00 with AVX2 and 2 to 8; with 16 or more, up to 1.2.
bool suits_packed(int64_t rows);
/// Return the bytes of b in the layout of multiply_packed().
size_t packed_bytes(const Product<float>& p);
/// Copy b to that layout.
void pack(const Product<float>& p, float* packed);
/// Same as multiply(), with b as packed by pack(); p.b is not used, and bias_stride is 1. Errors:
/// OutOfMemoryError.
void multiply_packed(const Product<float>& p, const float* packed, float* y);

}  // namespace ambit::cpu
