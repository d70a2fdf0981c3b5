// LU factorisation with partial pivoting, and solvers of systems given by LU factors or a triangle.
#include <ambit/backend/reference.h>
#include <ambit/error.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "matrix.h"
#include "runs.h"

namespace ambit::reference {
namespace {

// b := A^-1 b for the triangle of A that p selects.
void substitute(const DoubleMatrix& A, DoubleMatrix& b, const TriangularParams& p) {
  const int64_t N = A.rows;
  const auto a = [&](int64_t i, int64_t j) { return p.transpose ? A(j, i) : A(i, j); };
  const bool from_end = p.upper != p.transpose;
  for (int64_t step = 0; step < N; ++step) {
    const int64_t i = from_end ? N - 1 - step : step;
    for (int64_t r = 0; r < b.columns; ++r) {
      double rest = b(i, r);
      for (int64_t known = 0; known < step; ++known) {
        const int64_t j = from_end ? N - 1 - known : known;
        rest -= a(i, j) * b(j, r);
      }
      b(i, r) = p.unitriangular ? rest : rest / a(i, i);
    }
  }
}

}  // namespace

// lu, x [B,M,N]; pivots [B,min(M,N)]; info [B]. Golub & Van Loan, Matrix Computations, 3.4.
void lu_factor(Tensor& lu, Tensor& pivots, Tensor& info, const Tensor& x) {
  count_run();
  const int64_t B = x.size(0), M = x.size(1), N = x.size(2), K = std::min(M, N);
  for (int64_t b = 0; b < B; ++b) {
    DoubleMatrix a = load(x, b);
    int32_t* pivot = pivots.data_ptr<int32_t>() + b * K;
    int32_t singular = 0;
    for (int64_t k = 0; k < K; ++k) {
      int64_t best = k;
      for (int64_t i = k + 1; i < M; ++i) {
        if (std::abs(a(i, k)) > std::abs(a(best, k))) best = i;
      }
      pivot[k] = static_cast<int32_t>(best + 1);
      a.swap_rows(k, best);
      if (a(k, k) == 0) {
        if (singular == 0) singular = static_cast<int32_t>(k + 1);
        continue;
      }
      for (int64_t i = k + 1; i < M; ++i) {
        const double factor = a(i, k) /= a(k, k);
        for (int64_t j = k + 1; j < N; ++j) a(i, j) -= factor * a(k, j);
      }
    }
    info.data_ptr<int32_t>()[b] = singular;
    store(lu, b, a);
  }
}

// y, b [B,N,R]; lu [B,N,N]; pivots [B,N]
void lu_solve(Tensor& y, const Tensor& lu, const Tensor& pivots, const Tensor& b, bool transpose) {
  count_run();
  const int64_t B = y.size(0), N = y.size(1);
  const int32_t* const first = pivots.data_ptr<int32_t>();
  for (int64_t i = 0; i < B * N; ++i) {
    if (first[i] < 1 || first[i] > N) {
      throw IndexError("lu_solve: expected pivots in [1, " + std::to_string(N) + "], got " +
                       std::to_string(first[i]));
    }
  }
  const TriangularParams lower{.upper = false, .transpose = transpose, .unitriangular = true};
  const TriangularParams upper{.upper = true, .transpose = transpose};
  for (int64_t i = 0; i < B; ++i) {
    const DoubleMatrix a = load(lu, i);
    DoubleMatrix x = load(b, i);
    const int32_t* pivot = first + i * N;
    if (transpose) {
      substitute(a, x, upper);
      substitute(a, x, lower);
      for (int64_t k = N - 1; k >= 0; --k) x.swap_rows(k, pivot[k] - 1);
    } else {
      for (int64_t k = 0; k < N; ++k) x.swap_rows(k, pivot[k] - 1);
      substitute(a, x, lower);
      substitute(a, x, upper);
    }
    store(y, i, x);
  }
}

// y, b [B,N,R]; a [B,N,N]
void triangular_solve(Tensor& y, const Tensor& a, const Tensor& b, const TriangularParams& p) {
  count_run();
  for (int64_t i = 0; i < y.size(0); ++i) {
    DoubleMatrix x = load(b, i);
    substitute(load(a, i), x, p);
    store(y, i, x);
  }
}

}  // namespace ambit::reference
