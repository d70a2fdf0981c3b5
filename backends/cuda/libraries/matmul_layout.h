// How strided matrices are told to BLAS, which knows columns that lie behind each other, and
// transposes. Host arithmetic, tested without a GPU.
#pragma once

#include <ambit/tensor.h>

#include <algorithm>
#include <cstdint>
#include <optional>

namespace ambit::cuda {

/// A batch of matrices in memory: element (i, j) of matrix n is data[n * batch + i * row + j *
/// column].
struct Matrices {
  const void* data;
  int64_t rows, columns;
  int64_t batch, row, column;  // strides in elements

  /// Of a tensor [B,rows,columns], or [rows,columns].
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

/// A matrix stored column by column: `rows` elements side by side, `ld` from one column to the
/// next; the operand is that, or its transpose.
struct BlasLayout {
  bool transpose;
  int64_t rows, columns, ld;
  friend bool operator==(const BlasLayout&, const BlasLayout&) = default;
};

/// Return the layout of matrices that are not empty, none where BLAS cannot read them as they lie.
inline std::optional<BlasLayout> blas_layout(const Matrices& m) {
  // A stride along a single element says nothing.
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
