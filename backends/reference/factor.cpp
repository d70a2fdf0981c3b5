// Cholesky and Householder (QR) factorisations.
#include <ambit/backend/reference.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "matrix.h"
#include "runs.h"

namespace ambit::reference {

// y, x [B,N,N]; info [B]. Rows are computed in order: y[i][j] = (x[i][j] - sum over k of y[i][k]
// y[j][k]) / y[j][j].
void cholesky(Tensor& y, Tensor& info, const Tensor& x, bool upper) {
  count_run();
  const int64_t B = x.size(0), N = x.size(1);
  for (int64_t b = 0; b < B; ++b) {
    const DoubleMatrix a = load(x, b);
    DoubleMatrix l(N, N);
    int32_t bad = 0;
    for (int64_t i = 0; i < N && bad == 0; ++i) {
      for (int64_t j = 0; j <= i; ++j) {
        double rest = upper ? a(j, i) : a(i, j);
        for (int64_t k = 0; k < j; ++k) rest -= l(i, k) * l(j, k);
        if (i == j && !(rest > 0)) bad = static_cast<int32_t>(i + 1);  // also for NaN
        l(i, j) = i == j ? std::sqrt(rest) : rest / l(j, j);
      }
    }
    info.data_ptr<int32_t>()[b] = bad;
    if (upper) {
      for (int64_t i = 0; i < N; ++i) {
        for (int64_t j = 0; j < i; ++j) std::swap(l(i, j), l(j, i));
      }
    }
    store(y, b, l);
  }
}

// q [B,M,C]; r [B,C,N]; x [B,M,N]. Reflections I - t v v^T with v[k] = 1 map column k to a multiple
// of the unit vector, with the sign that avoids cancellation in v; none if the column is a multiple
// already, as in LAPACK's geqrf. Golub & Van Loan, Matrix Computations, 5.2.
void qr(Tensor& q, Tensor& r, const Tensor& x) {
  count_run();
  const int64_t B = x.size(0), M = x.size(1), N = x.size(2), K = std::min(M, N);
  std::vector<double> v(static_cast<size_t>(M));
  for (int64_t b = 0; b < B; ++b) {
    DoubleMatrix a = load(x, b), to = identity(M);
    for (int64_t k = 0; k < K; ++k) {
      double below = 0;
      for (int64_t i = k + 1; i < M; ++i) below = std::hypot(below, a(i, k));
      if (below == 0) continue;
      const double norm = -std::copysign(std::hypot(a(k, k), below), a(k, k));
      const double t = (norm - a(k, k)) / norm, scale = 1 / (a(k, k) - norm);
      for (int64_t i = k; i < M; ++i) v[static_cast<size_t>(i)] = i == k ? 1 : a(i, k) * scale;
      const auto at = [&](int64_t i) { return v[static_cast<size_t>(i)]; };
      for (int64_t j = k; j < N; ++j) {
        double dot = 0;
        for (int64_t i = k; i < M; ++i) dot += at(i) * a(i, j);
        for (int64_t i = k; i < M; ++i) a(i, j) -= t * dot * at(i);
      }
      for (int64_t i = 0; i < M; ++i) {  // Q = product of all reflections, first to last
        double dot = 0;
        for (int64_t j = k; j < M; ++j) dot += to(i, j) * at(j);
        for (int64_t j = k; j < M; ++j) to(i, j) -= t * dot * at(j);
      }
      for (int64_t i = k + 1; i < M; ++i) a(i, k) = 0;
    }
    store(q, b, to);
    store(r, b, a);
  }
}

}  // namespace ambit::reference
