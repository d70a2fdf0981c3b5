// Descriptions of strided matrices for BLAS, which requires column-major or transposed storage.
// Host arithmetic, tested without a GPU.
#pragma once

#include <ambit/tensor.h>

#include <algorithm>
#include <cstdint>
#include <optional>

namespace ambit::cuda {

/// A batch of matrices in memory: element (i, j) of matrix n is
///   data[n * batch + i * row + j * column].
struct Matrices {
  const void* data;
  int64_t rows, columns;
  int64_t batch, row, column;  // strides in elements

  /// From a tensor [B,rows,columns], or [rows,columns].
  explicit Matrices(const Tensor& t)
      : data(t.data_ptr()),
        rows(t.size(-2)),
        columns(t.size(-1)),
        batch(t.dim() == 3 ? t.stride(0) : 0),
        row(t.stride(-2)),
        column(t.stride(-1)) {}
  Matrices transposed() const {
    Matrices t = *this;
    std::swap(t.rows, t.columns);
    std::swap(t.row, t.column);
    return t;
  }
};

/// A column-major matrix: `rows` contiguous elements, `ld` from column to column; the operand is
/// the matrix or its transpose.
struct BlasLayout {
  bool transpose;
  int64_t rows, columns, ld;
  friend bool operator==(const BlasLayout&, const BlasLayout&) = default;
};

/// Return the layout of non-empty matrices; none if BLAS cannot read them in place.
inline std::optional<BlasLayout> blas_layout(const Matrices& m) {
  // The stride of a dim of size 1 is arbitrary.
  const auto fits = [](int64_t inner_size, int64_t inner_stride, int64_t outer_size,
                       int64_t outer_stride) {
    return (inner_stride == 1 || inner_size == 1) &&
           (outer_stride >= std::max<int64_t>(inner_size, 1) || outer_size == 1);
  };
  if (fits(m.rows, m.row, m.columns, m.column)) {
    return BlasLayout{false, m.rows, m.columns, m.columns == 1 ? m.rows : m.column};
  }
  if (fits(m.columns, m.column, m.rows, m.row)) {
    return BlasLayout{true, m.columns, m.rows, m.rows == 1 ? m.columns : m.row};
  }
  return std::nullopt;
}

}  // namespace ambit::cuda
