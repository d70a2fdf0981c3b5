// What the kernels of cuSOLVER and cuBLAS share. A matrix that lies by rows is, read by columns as
// they do, its transpose: where possible a kernel asks for the transpose's factors. All functions
// queue.
#pragma once

#include <ambit/tensor.h>

#include <cstdint>

#include "backends/cuda/runtime/workspace.h"

namespace ambit::cuda {

/// The sizes of a batch of matrices, as the libraries take them: [batch,rows,columns].
struct MatrixSizes {
  int64_t batch;
  int rows, columns;

  /// Of a tensor. Errors: ShapeError where a matrix has 2^31 elements or more, or a size is as
  /// large.
  explicit MatrixSizes(const Tensor& t);
  int64_t numel() const { return int64_t{rows} * columns; }
};

/// Up to this size the libraries' functions of batches are asked: their kernels are made for small
/// matrices, and calls for one after the other would cost more than the work.
inline constexpr int kMostBatched = 64;
/// The same of Jacobi's methods: more rows or columns gesvdjBatched does not take.
inline constexpr int kMostJacobi = 32;
/// Whether these are asked for matrices of that size; they count a batch as an int.
inline bool is_batch_of_small(int64_t batch, int size, int most) {
  return batch > 1 && batch <= INT32_MAX && size <= most;
}

/// Return x [B,M,N] by columns: a contiguous [B,N,M].
Tensor by_columns(const Tensor& x);
/// y [B,N,M] = contiguous x [B,M,N], transposed.
void transpose_each(Tensor& y, const Tensor& x);

/// Addresses of the matrices of a contiguous batch, as cuBLAS takes them.
template <class T>
class Addresses {
 public:
  /// `step` in elements.
  Addresses(T* first, int64_t step, int64_t batch);
  T** data() const { return workspace_.as<T*>(); }

 private:
  Workspace workspace_;
};

enum class Triangle : uint8_t { both, lower, upper };

/// marks [B] int32 = 1 for each matrix of x [B,M,N] with NaN or inf in that part, else 0.
void mark_not_finite(Tensor& marks, const Tensor& x, Triangle part);
/// Return these marks. cuSOLVER fails of such matrices, or never ends, where it iterates.
Tensor not_finite(const Tensor& x, Triangle part);
/// Write identity matrices over those of y [B,M,N] that are marked; all, where marks are undefined.
void set_identity(const Tensor& y, const Tensor& marks);
/// Write NaN over those that are marked, of y [B,M,N] or [B,N], in that part.
void set_nan(Tensor& y, const Tensor& marks, Triangle part = Triangle::both);
/// info [B] = 1 where a matrix is marked.
void set_marked(Tensor& info, const Tensor& marks);

/// y [B,C,N] = the upper triangle of the first N of columns [B,N or more,M], C <= M.
void copy_upper(Tensor& y, const Tensor& columns);
/// y [B,N,N]: zeros in the other triangle; info [B] = the first number, from 1, of its diagonal
/// that is not positive, where it is 0 so far.
void finish_cholesky(Tensor& y, Tensor& info, bool upper);
/// info [B] = the first number, from 1, of the diagonal of lu [B,M,N] that is 0, or 0. What is no
/// row from i on as pivots[i], which may be where NaN was met, becomes i.
void finish_lu(const Tensor& lu, Tensor& pivots, Tensor& info);
/// Exchange rows of y [B,N,R] as pivots [B,N] say, in turn, or backwards. One outside [1, N] is
/// skipped, and reported.
void swap_rows(Tensor& y, const Tensor& pivots, bool backwards);

}  // namespace ambit::cuda
