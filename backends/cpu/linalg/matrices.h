// Shared code of the LAPACK kernels. A row-major matrix, read as column-major by LAPACK, is its
// transpose: where possible a kernel computes factors of the transpose and copies nothing.
#pragma once

#include <ambit/error.h>
#include <ambit/tensor.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>

#include "backends/cpu/runtime/lapack.h"
#include "backends/cpu/runtime/one_thread.h"
#include "backends/cpu/runtime/parallel.h"
#include "backends/cpu/runtime/scratch.h"

namespace ambit::cpu {

/// Convert a size to LAPACK's int32. Errors: ShapeError.
inline int32_t lapack_size(const char* op, int64_t n) {
  if (n > std::numeric_limits<int32_t>::max()) {
    throw ShapeError(std::string(op) + ": expected sizes below 2^31, got " + std::to_string(n));
  }
  return static_cast<int32_t>(n);
}
/// Return a leading dimension, which must not be 0.
inline int32_t leading(int32_t n) { return std::max(n, 1); }

/// Call f(b) for each matrix of a batch, each of `work` multiply-adds. LAPACK runs on the calling
/// thread: with OpenBLAS's threads, matrices of 256 rows were 300 times as slow on two cores, and
/// those of 1024 half as fast as on one (measured).
template <class F>
void for_each_matrix(int64_t batch, int64_t work, const F& f) {
  // The overhead of LAPACK's calls, which dominates for small matrices, in multiply-adds.
  constexpr int64_t kCalls = 20000;
  parallel_for(batch, grain_for_products(work + kCalls), [&](int64_t first, int64_t past) {
    const OneThread one;
    for (int64_t b = first; b < past; ++b) f(b);
  });
}

/// to [columns, rows] = transpose of from [rows, columns], in blocks of cache lines.
template <class T>
void transpose(T* to, const T* from, int64_t rows, int64_t columns) {
  constexpr int64_t kBlock = 16;
  for (int64_t i0 = 0; i0 < rows; i0 += kBlock) {
    const int64_t i1 = std::min(rows, i0 + kBlock);
    for (int64_t j0 = 0; j0 < columns; j0 += kBlock) {
      const int64_t j1 = std::min(columns, j0 + kBlock);
      for (int64_t j = j0; j < j1; ++j) {
        for (int64_t i = i0; i < i1; ++i) to[j * rows + i] = from[i * columns + j];
      }
    }
  }
}

/// Return true if no element is NaN or inf: with them LAPACK may not terminate.
template <class T>
bool is_finite(const T* x, int64_t n) {
  T sum = 0;
  for (int64_t i = 0; i < n; ++i) sum += x[i] * 0;
  return sum == 0;
}

/// Convert a workspace size that LAPACK returns as a float, whose last digits may be rounded off.
template <class T>
int32_t work_size(T size) {
  return static_cast<int32_t>(std::ceil(static_cast<double>(size) * 1.00001)) + 1;
}

/// m [rows, columns] = 1 on the diagonal, 0 elsewhere.
template <class T>
void set_identity(T* m, int64_t rows, int64_t columns) {
  std::fill_n(m, rows * columns, T(0));
  for (int64_t i = 0; i < std::min(rows, columns); ++i) m[i * columns + i] = T(1);
}

}  // namespace ambit::cpu
