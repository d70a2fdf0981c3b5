// Matrices for factorisations: float64, row-major.
#pragma once

#include <ambit/tensor.h>

#include <cmath>
#include <cstddef>
#include <utility>
#include <vector>

namespace ambit::reference {

struct DoubleMatrix {
  DoubleMatrix(int64_t r, int64_t c) : rows(r), columns(c), data(static_cast<size_t>(r * c)) {}
  double& operator()(int64_t i, int64_t j) { return data[static_cast<size_t>(i * columns + j)]; }
  double operator()(int64_t i, int64_t j) const {
    return data[static_cast<size_t>(i * columns + j)];
  }
  void swap_rows(int64_t i, int64_t j) {
    for (int64_t k = 0; i != j && k < columns; ++k) std::swap((*this)(i, k), (*this)(j, k));
  }
  int64_t rows, columns;
  std::vector<double> data;
};

inline DoubleMatrix identity(int64_t n) {
  DoubleMatrix m(n, n);
  for (int64_t i = 0; i < n; ++i) m(i, i) = 1;
  return m;
}

/// Return matrix b of contiguous t [B,M,N].
inline DoubleMatrix load(const Tensor& t, int64_t b) {
  DoubleMatrix m(t.size(1), t.size(2));
  visit<dtypes::kFloating>(t.dtype(), [&]<class T>() {
    const T* from = t.data_ptr<T>() + b * m.rows * m.columns;
    for (size_t i = 0; i < m.data.size(); ++i) m.data[i] = static_cast<double>(from[i]);
  });
  return m;
}

/// Store m as matrix b of t, or its first columns if t has fewer; no-op if t is undefined.
inline void store(Tensor& t, int64_t b, const DoubleMatrix& m) {
  if (!t.defined()) return;
  const int64_t rows = t.size(1), columns = t.size(2);
  visit<dtypes::kFloating>(t.dtype(), [&]<class T>() {
    T* to = t.data_ptr<T>() + b * rows * columns;
    for (int64_t i = 0; i < rows; ++i) {
      for (int64_t j = 0; j < columns; ++j) to[i * columns + j] = static_cast<T>(m(i, j));
    }
  });
}

/// Store values as row b of contiguous t [B,N].
inline void store(Tensor& t, int64_t b, const std::vector<double>& values) {
  visit<dtypes::kFloating>(t.dtype(), [&]<class T>() {
    T* to = t.data_ptr<T>() + b * t.size(1);
    for (size_t i = 0; i < values.size(); ++i) to[i] = static_cast<T>(values[i]);
  });
}

inline bool is_finite(const DoubleMatrix& m) {
  for (const double v : m.data) {
    if (!std::isfinite(v)) return false;
  }
  return true;
}

}  // namespace ambit::reference
