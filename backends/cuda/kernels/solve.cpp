// Solvers of systems given by LU factors or a triangle: cuBLAS's trsm. lu and A [B,N,N], b and y
// [B,N,R].
#include "backends/cuda/kernels.h"
#include "backends/cuda/libraries/cublas.h"
#include "matrices.h"

namespace ambit::cuda {
namespace {

// y := A^-1 y for the triangles p of A. Both are row-major, so that cuBLAS computes y^T := y^T
// (A^T)^-1 with the opposite triangle of A^T.
template <class T>
void substitute(Tensor& y, const Tensor& a, const TriangularParams& p) {
  const cublas::Typed<T> f;
  const cublas::Session session;
  const MatrixSizes s(y);
  const int N = s.rows, R = s.columns;
  const auto uplo = p.upper ? CUBLAS_FILL_MODE_LOWER : CUBLAS_FILL_MODE_UPPER;
  const auto form = p.transpose ? CUBLAS_OP_T : CUBLAS_OP_N;
  const auto diagonal = p.unitriangular ? CUBLAS_DIAG_UNIT : CUBLAS_DIAG_NON_UNIT;
  const T one = 1;
  T *pa = a.data_ptr<T>(), *py = y.data_ptr<T>();
  if (is_batch_of_small(s.batch, N, kMostBatched)) {
    const Addresses<T> matrices(pa, int64_t{N} * N, s.batch), sides(py, s.numel(), s.batch);
    return cublas::check(
        f.trsm_batched(session.handle(), CUBLAS_SIDE_RIGHT, uplo, form, diagonal, R, N, &one,
                       matrices.data(), N, sides.data(), R, static_cast<int>(s.batch)),
        "cublas<t>trsmBatched");
  }
  for (int64_t b = 0; b < s.batch; ++b) {
    cublas::check(f.trsm(session.handle(), CUBLAS_SIDE_RIGHT, uplo, form, diagonal, R, N, &one,
                         pa + b * N * N, N, py + b * s.numel(), R),
                  "cublas<t>trsm");
  }
}

void solve_triangle(Tensor& y, const Tensor& a, const TriangularParams& p) {
  if (y.numel() == 0) return;
  visit<dtypes::kFloating>(y.dtype(), [&]<class T>() { substitute<T>(y, a, p); });
}

}  // namespace

void lu_solve(Tensor& y, const Tensor& lu, const Tensor& pivots, const Tensor& b, bool transpose) {
  const TriangularParams lower{.upper = false, .transpose = transpose, .unitriangular = true};
  const TriangularParams upper{.upper = true, .transpose = transpose};
  if (y.numel() > 0) copy(y, b);
  if (!transpose) swap_rows(y, pivots, false);
  solve_triangle(y, lu, transpose ? upper : lower);
  solve_triangle(y, lu, transpose ? lower : upper);
  if (transpose) swap_rows(y, pivots, true);
}

void triangular_solve(Tensor& y, const Tensor& a, const Tensor& b, const TriangularParams& p) {
  if (y.numel() > 0) copy(y, b);
  solve_triangle(y, a, p);
}

}  // namespace ambit::cuda
