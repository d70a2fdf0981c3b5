// Eigenvalues of symmetric matrices and singular values, by Jacobi rotations: slow and accurate.
// Source: Golub & Van Loan, Matrix Computations, 8.5 and 8.6.
#include <ambit/backend/reference.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include "matrix.h"
#include "runs.h"

namespace ambit::reference {
namespace {

constexpr double kEpsilon = std::numeric_limits<double>::epsilon();
constexpr int kSweeps = 60;  // about 12 suffice in practice

struct Rotation {
  double cosine = 1, sine = 0;
};

// Return the rotation by the smaller angle that diagonalises [[p, c], [c, q]].
Rotation rotation(double p, double q, double c) {
  const double tau = (q - p) / (2 * c);
  const double t = std::copysign(1, tau) / (std::abs(tau) + std::hypot(1, tau));
  const double cosine = 1 / std::hypot(1, t);
  return {cosine, t * cosine};
}

void rotate_columns(DoubleMatrix& m, int64_t p, int64_t q, Rotation r) {
  for (int64_t i = 0; i < m.rows; ++i) {
    const double x = m(i, p), y = m(i, q);
    m(i, p) = r.cosine * x - r.sine * y;
    m(i, q) = r.sine * x + r.cosine * y;
  }
}
void rotate_rows(DoubleMatrix& m, int64_t p, int64_t q, Rotation r) {
  for (int64_t i = 0; i < m.columns; ++i) {
    const double x = m(p, i), y = m(q, i);
    m(p, i) = r.cosine * x - r.sine * y;
    m(q, i) = r.sine * x + r.cosine * y;
  }
}

// Diagonalise a; accumulate the rotations in v. Return true if it converged within kSweeps.
bool diagonalize(DoubleMatrix& a, DoubleMatrix& v) {
  double total = 0;
  for (const double x : a.data) total = std::hypot(total, x);
  for (int sweep = 0; sweep < kSweeps; ++sweep) {
    bool done = true;
    for (int64_t p = 0; p < a.rows; ++p) {
      for (int64_t q = p + 1; q < a.rows; ++q) {
        if (std::abs(a(p, q)) <= kEpsilon * kEpsilon * total) continue;
        // Because the rotations round, off-diagonal elements of about this size remain.
        if (std::abs(a(p, q)) > kEpsilon * total) done = false;
        const Rotation r = rotation(a(p, p), a(q, q), a(p, q));
        rotate_columns(a, p, q, r);
        rotate_rows(a, p, q, r);
        rotate_columns(v, p, q, r);
      }
    }
    if (done) return true;
  }
  return false;
}

double dot(const DoubleMatrix& m, int64_t p, int64_t q) {
  double sum = 0;
  for (int64_t i = 0; i < m.rows; ++i) sum += m(i, p) * m(i, q);
  return sum;
}

// Orthogonalise the columns of w, except those of norms up to `noise`; accumulate the rotations in
// v.
bool orthogonalize(DoubleMatrix& w, DoubleMatrix& v, double noise) {
  for (int sweep = 0; sweep < kSweeps; ++sweep) {
    bool done = true;
    for (int64_t p = 0; p < w.columns; ++p) {
      for (int64_t q = p + 1; q < w.columns; ++q) {
        const double pp = dot(w, p, p), qq = dot(w, q, q), pq = dot(w, p, q);
        const double norms = std::sqrt(pp) * std::sqrt(qq);
        const double most = static_cast<double>(w.rows) * kEpsilon * norms;
        if (std::abs(pq) <= most || std::min(pp, qq) <= noise * noise) continue;
        done = false;
        const Rotation r = rotation(pp, qq, pq);
        rotate_columns(w, p, q, r);
        rotate_columns(v, p, q, r);
      }
    }
    if (done) return true;
  }
  return false;
}

// Fill column c of u with a unit vector orthogonal to the columns before it: an axis vector whose
// projection is not too short.
void complete(DoubleMatrix& u, int64_t c) {
  const double least =
      0.5 * std::sqrt(static_cast<double>(u.rows - c) / static_cast<double>(u.rows));
  for (int64_t axis = 0; axis < u.rows; ++axis) {
    for (int64_t i = 0; i < u.rows; ++i) u(i, c) = i == axis ? 1 : 0;
    double length = 0;
    for (int pass = 0; pass < 2; ++pass) {  // reorthogonalise once
      for (int64_t p = 0; p < c; ++p) {
        const double d = dot(u, p, c);
        for (int64_t i = 0; i < u.rows; ++i) u(i, c) -= d * u(i, p);
      }
      if (pass == 0) length = std::sqrt(dot(u, c, c));
    }
    if (length < least) continue;
    const double norm = std::sqrt(dot(u, c, c));
    for (int64_t i = 0; i < u.rows; ++i) u(i, c) /= norm;
    return;
  }
}

std::vector<int64_t> order(const std::vector<double>& values, bool descending) {
  std::vector<int64_t> at(values.size());
  std::iota(at.begin(), at.end(), int64_t{0});
  std::stable_sort(at.begin(), at.end(), [&](int64_t i, int64_t j) {
    const double a = values[static_cast<size_t>(i)], b = values[static_cast<size_t>(j)];
    return descending ? a > b : a < b;
  });
  return at;
}

DoubleMatrix transposed(const DoubleMatrix& m) {
  DoubleMatrix t(m.columns, m.rows);
  for (int64_t i = 0; i < m.rows; ++i) {
    for (int64_t j = 0; j < m.columns; ++j) t(j, i) = m(i, j);
  }
  return t;
}

struct Svd {
  DoubleMatrix u, v;  // [M,M], [N,N]
  std::vector<double> s;
  bool converged;
};

// SVD of w [M,N], M >= N: the columns of w V are s times those of U.
Svd svd_of_tall(DoubleMatrix w) {
  const int64_t M = w.rows, N = w.columns;
  double largest = 0;
  for (int64_t j = 0; j < N; ++j) largest = std::max(largest, std::sqrt(dot(w, j, j)));
  const double noise = kEpsilon * largest;
  DoubleMatrix v = identity(N);
  const bool converged = orthogonalize(w, v, noise);
  std::vector<double> norms(static_cast<size_t>(N));
  for (int64_t j = 0; j < N; ++j) norms[static_cast<size_t>(j)] = std::sqrt(dot(w, j, j));
  Svd out{DoubleMatrix(M, M), DoubleMatrix(N, N), {}, converged};
  const std::vector<int64_t> at = order(norms, true);
  for (int64_t j = 0; j < M; ++j) {
    const int64_t from = j < N ? at[static_cast<size_t>(j)] : -1;
    const double norm = from < 0 ? 0 : norms[static_cast<size_t>(from)];
    if (from >= 0) {
      out.s.push_back(norm);
      for (int64_t i = 0; i < N; ++i) out.v(i, j) = v(i, from);
    }
    if (norm <= noise) {
      complete(out.u, j);
    } else {
      for (int64_t i = 0; i < M; ++i) out.u(i, j) = w(i, from) / norm;
    }
  }
  return out;
}

}  // namespace

// values [B,N]; vectors [B,N,N]; info [B]; x [B,N,N]
void eigh(Tensor& values, Tensor& vectors, Tensor& info, const Tensor& x, bool upper) {
  count_run();
  const int64_t B = x.size(0), N = x.size(1);
  for (int64_t b = 0; b < B; ++b) {
    DoubleMatrix a = load(x, b), v = identity(N);
    for (int64_t i = 0; i < N; ++i) {
      for (int64_t j = 0; j < i; ++j) (upper ? a(i, j) : a(j, i)) = upper ? a(j, i) : a(i, j);
    }
    const bool finite = is_finite(a);
    info.data_ptr<int32_t>()[b] = !finite || diagonalize(a, v) ? 0 : 1;
    if (!finite) {
      a.data.assign(a.data.size(), std::numeric_limits<double>::quiet_NaN());
      v = a;
    }
    std::vector<double> diagonal, sorted;
    for (int64_t i = 0; i < N; ++i) diagonal.push_back(a(i, i));
    DoubleMatrix columns(N, N);
    for (const int64_t from : order(diagonal, false)) {
      const auto to = static_cast<int64_t>(sorted.size());
      sorted.push_back(diagonal[static_cast<size_t>(from)]);
      for (int64_t i = 0; i < N; ++i) columns(i, to) = v(i, from);
    }
    store(values, b, sorted);
    store(vectors, b, columns);
  }
}

// u [B,M,C]; s [B,K]; vh [B,D,N]; info [B]; x [B,M,N]
void svd(Tensor& u, Tensor& s, Tensor& vh, Tensor& info, const Tensor& x) {
  count_run();
  const bool wide = x.size(1) < x.size(2);
  for (int64_t b = 0; b < x.size(0); ++b) {
    const DoubleMatrix a = load(x, b);
    int32_t& failed = info.data_ptr<int32_t>()[b];
    failed = is_finite(a) ? 0 : 1;
    if (failed) continue;
    const Svd factors = svd_of_tall(wide ? transposed(a) : a);
    failed = factors.converged ? 0 : 1;
    store(s, b, factors.s);
    store(u, b, wide ? factors.v : factors.u);
    store(vh, b, transposed(wide ? factors.u : factors.v));
  }
}

}  // namespace ambit::reference
