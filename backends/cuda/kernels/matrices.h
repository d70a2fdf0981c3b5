// Shared code of the cuSOLVER and cuBLAS kernels. A row-major matrix, read as column-major by these
// libraries, is its transpose: where possible a kernel computes factors of the transpose. All
// functions are asynchronous.
#pragma once

#include <ambit/tensor.h>

#include <cstdint>

#include "backends/cuda/runtime/workspace.h"

namespace ambit::cuda {

/// The sizes of a batch of matrices [batch,rows,columns], as int for the libraries.
struct MatrixSizes {
  int64_t batch;
  int rows, columns;

  /// Errors: ShapeError if a matrix or a size has 2^31 elements or more.
  explicit MatrixSizes(const Tensor& t);
  int64_t numel() const { return int64_t{rows} * columns; }
};

/// Up to this size use the libraries' batched functions, whose kernels are made for small matrices;
/// separate calls would cost more than the work.
inline constexpr int kMostBatched = 64;
/// As kMostBatched, for Jacobi's methods: the limit of gesvdjBatched for rows and columns.
inline constexpr int kMostJacobi = 32;
/// Return true if batched functions apply to matrices of this size; they count the batch as int.
inline bool is_batch_of_small(int64_t batch, int size, int most) {
  return batch > 1 && batch <= INT32_MAX && size <= most;
}

/// Return x [B,M,N] in column-major order: a contiguous [B,N,M].
Tensor by_columns(const Tensor& x);
/// y [B,N,M] = contiguous x [B,M,N], transposed.
void transpose_each(Tensor& y, const Tensor& x);

/// Device array of the addresses of a contiguous batch's matrices, for cuBLAS.
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

/// marks [B] int32 = 1 for each matrix of x [B,M,N] with NaN or inf in `part`, else 0.
void mark_not_finite(Tensor& marks, const Tensor& x, Triangle part);
/// Return these marks. With such matrices cuSOLVER fails, or does not terminate when it iterates.
Tensor not_finite(const Tensor& x, Triangle part);
/// Set the marked matrices of y [B,M,N] to the identity; all if marks are undefined.
void set_identity(const Tensor& y, const Tensor& marks);
/// Set `part` of the marked matrices of y [B,M,N] or [B,N] to NaN.
void set_nan(Tensor& y, const Tensor& marks, Triangle part = Triangle::both);
/// info [B] = 1 where a matrix is marked.
void set_marked(Tensor& info, const Tensor& marks);

/// y [B,C,N] = the upper triangle of the first N of columns [B,N or more,M], C <= M.
void copy_upper(Tensor& y, const Tensor& columns);
/// y [B,N,N]: zero the other triangle; where info [B] is 0, set it to the first 1-based position on
/// the diagonal that is not positive.
void finish_cholesky(Tensor& y, Tensor& info, bool upper);
/// info [B] = the first 1-based position on the diagonal of lu [B,M,N] that is 0, or 0. Pivots[i]
/// that are not a row from i on, which NaN can cause, become i.
void finish_lu(const Tensor& lu, Tensor& pivots, Tensor& info);
/// Swap rows of y [B,N,R] according to pivots [B,N], forwards or backwards. Pivots outside [1, N]
/// are skipped and reported.
void swap_rows(Tensor& y, const Tensor& pivots, bool backwards);

}  // namespace ambit::cuda
