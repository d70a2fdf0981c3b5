// LU factorisation; solvers by LU factors or a triangle. lu [B,N,N], b and y [B,N,R].
#include <ambit/backend/reference.h>
#include <fmt/format.h>

#include "backends/cpu/kernels.h"
#include "matrices.h"

namespace ambit::cpu {
namespace {

// y := A^-1 y for the triangle of A [N,N] that p selects, y [N,R]. Both are row-major, so that
// LAPACK computes y^T := y^T (A^T)^-1 with the opposite triangle of A^T.
template <class T>
void substitute(const LapackOf<T>& f, const T* a, T* y, int32_t N, int32_t R,
                const TriangularParams& p) {
  const T one = 1;
  const int32_t lda = leading(N), ldb = leading(R);
  // Threads share the columns.
  parallel_for(R, grain_for_products(int64_t{N} * N), [&](int64_t first, int64_t past) {
    const OneThread alone;
    const auto columns = static_cast<int32_t>(past - first);
    f.trsm("R", p.upper ? "L" : "U", p.transpose ? "T" : "N", p.unitriangular ? "U" : "N", &columns,
           &N, &one, a, &lda, y + first, &ldb, 1, 1, 1, 1);
  });
}

template <class T>
void swap_rows(T* y, int64_t R, int64_t i, int64_t j) {
  if (i != j) std::swap_ranges(y + i * R, y + (i + 1) * R, y + j * R);
}

void check_pivots(const int32_t* pivots, int64_t count, int64_t N) {
  for (int64_t i = 0; i < count; ++i) {
    if (pivots[i] < 1 || pivots[i] > N) {
      throw IndexError(fmt::format("lu_solve: expected pivots in [1, {}], got {}", N, pivots[i]));
    }
  }
}

}  // namespace

// lu, x [B,M,N]; pivots [B,min(M,N)]; info [B]
void lu_factor(Tensor& lu, Tensor& pivots, Tensor& info, const Tensor& x) {
  const LapackUse library;
  if (!library) return reference::lu_factor(lu, pivots, info, x);
  const int32_t M = lapack_size("lu_factor", x.size(1)), N = lapack_size("lu_factor", x.size(2));
  const int64_t numel = x.size(1) * x.size(2), K = std::min(M, N);
  int32_t *pivot = pivots.data_ptr<int32_t>(), *pi = info.data_ptr<int32_t>();
  visit<dtypes::kFloating>(x.dtype(), [&]<class T>() {
    const auto& f = library->of<T>();
    T* py = lu.data_ptr<T>();
    const T* px = x.data_ptr<T>();
    for_each_matrix(x.size(0), numel * K, [&](int64_t b) {
      pi[b] = 0;
      if (numel == 0) return;
      const Scratch scratch(static_cast<size_t>(numel) * sizeof(T));
      T* columns = scratch.data<T>();
      transpose(columns, px + b * numel, M, N);
      f.getrf(&M, &N, columns, &M, pivot + b * K, pi + b);
      transpose(py + b * numel, columns, N, M);
    });
  });
}

void lu_solve(Tensor& y, const Tensor& lu, const Tensor& pivots, const Tensor& b, bool transpose) {
  const LapackUse library;
  if (!library) return reference::lu_solve(y, lu, pivots, b, transpose);
  const int32_t N = lapack_size("lu_solve", y.size(1)), R = lapack_size("lu_solve", y.size(2));
  const int64_t rows = y.size(1), columns = y.size(2), numel = rows * columns;
  const int32_t* pivot = pivots.data_ptr<int32_t>();
  check_pivots(pivot, pivots.numel(), rows);
  const TriangularParams lower{.upper = false, .transpose = transpose, .unitriangular = true};
  const TriangularParams upper{.upper = true, .transpose = transpose};
  visit<dtypes::kFloating>(y.dtype(), [&]<class T>() {
    const auto& f = library->of<T>();
    for_each_matrix(y.size(0), numel * rows, [&](int64_t i) {
      const T* a = lu.data_ptr<T>() + i * rows * rows;
      T* to = y.data_ptr<T>() + i * numel;
      const int32_t* swaps = pivot + i * rows;
      if (numel == 0) return;
      std::copy_n(b.data_ptr<T>() + i * numel, numel, to);
      if (!transpose) {
        for (int64_t k = 0; k < rows; ++k) swap_rows(to, columns, k, swaps[k] - 1);
      }
      substitute(f, a, to, N, R, transpose ? upper : lower);
      substitute(f, a, to, N, R, transpose ? lower : upper);
      if (transpose) {
        for (int64_t k = rows - 1; k >= 0; --k) swap_rows(to, columns, k, swaps[k] - 1);
      }
    });
  });
}

void triangular_solve(Tensor& y, const Tensor& a, const Tensor& b, const TriangularParams& p) {
  const LapackUse library;
  if (!library) return reference::triangular_solve(y, a, b, p);
  const int32_t N = lapack_size("triangular_solve", y.size(1));
  const int32_t R = lapack_size("triangular_solve", y.size(2));
  const int64_t rows = y.size(1), numel = rows * y.size(2);
  visit<dtypes::kFloating>(y.dtype(), [&]<class T>() {
    for_each_matrix(y.size(0), numel * rows, [&](int64_t i) {
      T* to = y.data_ptr<T>() + i * numel;
      if (numel == 0) return;
      std::copy_n(b.data_ptr<T>() + i * numel, numel, to);
      substitute(library->of<T>(), a.data_ptr<T>() + i * rows * rows, to, N, R, p);
    });
  });
}

}  // namespace ambit::cpu
