// What the kernels of LAPACK share. A matrix that lies by rows is, read by columns as LAPACK does,
// its transpose: where possible a kernel asks for the transpose's factors and copies nothing.
#pragma once

#include <ambit/error.h>
#include <ambit/tensor.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <string>

#include "backends/cpu/runtime/parallel.h"
#include "backends/cpu/runtime/scratch.h"
#include "lapack.h"

namespace ambit::cpu {

/// A size as LAPACK takes it. Errors: ShapeError.
inline int32_t lapack_size(const char* op, int64_t n) {
  if (n > std::numeric_limits<int32_t>::max()) {
    throw ShapeError(std::string(op) + ": expected sizes below 2^31, got " + std::to_string(n));
  }
  return static_cast<int32_t>(n);
}
/// A leading dimension, which is never 0.
inline int32_t leading(int32_t n) { return std::max(n, 1); }

/// Call f(b) for each matrix of a batch, each of `work` multiply-adds: small ones side by side, of
/// a large one its threads are LAPACK's.
template <class F>
void for_each_matrix(int64_t batch, int64_t work, const F& f) {
  parallel_for(batch, grain_for_products(work), [&](int64_t first, int64_t past) {
    const LapackThreads threads;
    for (int64_t b = first; b < past; ++b) f(b);
  });
}

/// to [columns, rows] = transpose of from [rows, columns], in blocks that fit the cache's lines.
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

/// m [rows, columns] = ones on the diagonal, else zeros.
template <class T>
void set_identity(T* m, int64_t rows, int64_t columns) {
  std::fill_n(m, rows * columns, T(0));
  for (int64_t i = 0; i < std::min(rows, columns); ++i) m[i * columns + i] = T(1);
}

}  // namespace ambit::cpu
