// QR factorisations, eigenvalues of Hermitian matrices and singular values of complex matrices, on
// the host in complex128. Householder reflections reduce Hermitian matrices to real tridiagonal
// ones, and others to real bidiagonal ones, for the kernels of real numbers.
// Source: Golub & Van Loan, Matrix Computations, 5.1, 5.4 and 8.3; LAPACK's zlarfg.
#include <algorithm>
#include <cmath>
#include <vector>

#include "core/ops/complex/host_matrix.h"
#include "core/ops/complex/kernels.h"

namespace ambit {
namespace {

// A Householder reflection F = I - tau v v^H with v[0] = 1. reflection_of(x) makes it so that
// F^H x = length e1 with a real length.
struct Reflection {
  Complex tau = 0;
  double length = 0;
  std::vector<Complex> v;
};

Reflection reflection_of(std::vector<Complex> x) {
  Reflection r{.v = std::move(x)};
  const Complex first = r.v[0];
  double others = 0;
  for (size_t i = 1; i < r.v.size(); ++i) others = std::hypot(others, std::abs(r.v[i]));
  r.v[0] = 1;
  r.length = first.real();
  if (others == 0 && first.imag() == 0) return r;
  r.length = -std::copysign(std::hypot(std::abs(first), others), first.real());
  r.tau = (r.length - first) / r.length;
  for (size_t i = 1; i < r.v.size(); ++i) r.v[i] /= first - r.length;
  return r;
}

// The part of m from row `row` and column `column` on := (I - tau v v^H) part.
void apply_left(const HostMatrix& m, int64_t row, int64_t column, const Reflection& r,
                const Complex& tau) {
  if (tau == Complex(0)) return;
  const int64_t n = m.columns - column;
  std::vector<Complex> sums(static_cast<size_t>(n));
  for (size_t i = 0; i < r.v.size(); ++i) {
    add_scaled(sums.data(), std::conj(r.v[i]), m.row(row + static_cast<int64_t>(i)) + column, n);
  }
  for (size_t i = 0; i < r.v.size(); ++i) {
    add_scaled(m.row(row + static_cast<int64_t>(i)) + column, -product(tau, r.v[i]), sums.data(),
               n);
  }
}

// The part of m from column `column` on := part (I - tau v v^H).
void apply_right(const HostMatrix& m, int64_t column, const Reflection& r) {
  if (r.tau == Complex(0)) return;
  std::vector<Complex> conjugates;
  for (const Complex& z : r.v) conjugates.push_back(std::conj(z));
  for (int64_t i = 0; i < m.rows; ++i) {
    Complex *part = m.row(i) + column, sum = 0;
    for (size_t j = 0; j < r.v.size(); ++j) sum += product(part[j], r.v[j]);
    add_scaled(part, -product(r.tau, sum), conjugates.data(), m.columns - column);
  }
}

std::vector<Complex> column_of(const HostMatrix& m, int64_t column, int64_t first) {
  std::vector<Complex> x;
  for (int64_t i = first; i < m.rows; ++i) x.push_back(m(i, column));
  return x;
}

void set_identity(const HostMatrix& m) {
  for (int64_t i = 0; i < std::min(m.rows, m.columns); ++i) m(i, i) = 1;
}

// Factor a = Q R. R, with all M rows, overwrites a; the first C columns of Q overwrite q, which
// holds zeros [M,C].
void factor_qr(const HostMatrix& a, const HostMatrix& q) {
  std::vector<Reflection> all;
  for (int64_t k = 0; k < std::min(a.rows, a.columns); ++k) {
    Reflection r = reflection_of(column_of(a, k, k));
    apply_left(a, k, k + 1, r, std::conj(r.tau));
    a(k, k) = r.length;
    for (int64_t i = k + 1; i < a.rows; ++i) a(i, k) = 0;
    all.push_back(std::move(r));
  }
  if (q.columns == 0) return;
  set_identity(q);
  for (size_t k = all.size(); k-- > 0;) {
    const auto at = static_cast<int64_t>(k);
    apply_left(q, at, at, all[k], all[k].tau);
  }
}

// Overwrite Hermitian a with Q^H a Q, which is tridiagonal and real, and q, which holds zeros, with
// Q.
void reduce_to_tridiagonal(const HostMatrix& a, const HostMatrix& q) {
  set_identity(q);
  for (int64_t k = 0; k + 1 < a.rows; ++k) {
    const Reflection r = reflection_of(column_of(a, k, k + 1));
    apply_left(a, k + 1, k, r, std::conj(r.tau));
    apply_right(a, k + 1, r);
    apply_right(q, k + 1, r);
  }
}

// Overwrite square a with Q^H a P, which is bidiagonal and real, and q and p, which hold zeros,
// with Q and P.
void reduce_to_bidiagonal(const HostMatrix& a, const HostMatrix& q, const HostMatrix& p) {
  set_identity(q);
  set_identity(p);
  const int64_t n = a.rows;
  for (int64_t k = 0; k < n; ++k) {
    const Reflection left = reflection_of(column_of(a, k, k));
    apply_left(a, k, k, left, std::conj(left.tau));
    apply_right(q, k, left);
    if (k + 1 == n) return;
    std::vector<Complex> row;
    for (int64_t j = k + 1; j < n; ++j) row.push_back(std::conj(a(k, j)));
    const Reflection right = reflection_of(std::move(row));
    apply_right(a, k + 1, right);
    apply_right(p, k + 1, right);
  }
}

Tensor doubles(IntArrayRef sizes) { return empty(sizes, TensorOptions(kFloat64).device(kCPU)); }

// Return the real parts of a's main diagonal, of the one above and, if with_lower, of the one
// below; zeros elsewhere, where a holds only rounding errors.
Tensor real_band(const HostMatrices& a, bool with_lower) {
  const Tensor out = zeros(a.tensor().sizes(), TensorOptions(kFloat64).device(kCPU));
  for (int64_t b = 0; b < a.count(); ++b) {
    const HostMatrix m = a[b];
    double* to = out.data_ptr<double>() + b * m.rows * m.columns;
    for (int64_t i = 0; i < m.rows; ++i) {
      for (int64_t j = with_lower ? std::max<int64_t>(i - 1, 0) : i;
           j <= std::min(i + 1, m.columns - 1); ++j) {
        to[i * m.columns + j] = m(i, j).real();
      }
    }
  }
  return out;
}

Tensor times(const Tensor& a, const Tensor& b) {
  Tensor out = allocate("complex", {a.size(0), a.size(1), b.size(2)}, kComplexDouble, kCPU);
  kernels::matmul(out, a, b.to(kComplexDouble));
  return out;
}

void write(const Tensor& y, const Tensor& host) {
  if (y.defined()) write_back(y, host.to(y.dtype()).contiguous());
}

}  // namespace

// q [B,M,C]; r [B,C,N]; x [B,M,N]
void by_parts::qr(Tensor& q, Tensor& r, const Tensor& x) {
  const int64_t C = r.size(1);
  const HostMatrices a = HostMatrices::of(x);
  const HostMatrices columns = HostMatrices::zeros(x.size(0), x.size(1), q.defined() ? C : 0);
  for (int64_t b = 0; b < a.count(); ++b) factor_qr(a[b], columns[b]);
  write(r, narrow(a.tensor(), 1, 0, C));
  write(q, columns.tensor());
}

// values [B,N]; vectors [B,N,N]; info [B]; x [B,N,N]
void by_parts::eigh(Tensor& values, Tensor& vectors, Tensor& info, const Tensor& x, bool upper) {
  const int64_t B = x.size(0), N = x.size(1);
  const HostMatrices a = HostMatrices::of(x), q = HostMatrices::zeros(B, N, N);
  for (int64_t b = 0; b < B; ++b) {
    const HostMatrix m = a[b];
    for (int64_t i = 0; i < N; ++i) {
      m(i, i) = m(i, i).real();
      for (int64_t j = 0; j < i; ++j) {
        (upper ? m(i, j) : m(j, i)) = std::conj(upper ? m(j, i) : m(i, j));
      }
    }
    reduce_to_tridiagonal(m, q[b]);
  }
  Tensor l = doubles(values.sizes()), v = vectors.defined() ? doubles(vectors.sizes()) : Tensor();
  Tensor failed = allocate("complex", info.sizes(), kInt32, kCPU);
  kernels::eigh(l, v, failed, real_band(a, true), false);
  write(values, l);
  if (vectors.defined()) write(vectors, times(q.tensor(), v));
  write(info, failed);
}

// u [B,M,C]; s [B,K]; vh [B,D,N]; info [B]; x [B,M,N]. Tall x is factored as Q R, and square R as
// U S V^H. Then u is Q U; if it has more columns, they are the other columns of Q. Wide x is
// factored through x^H.
void by_parts::svd(Tensor& u, Tensor& s, Tensor& vh, Tensor& info, const Tensor& x) {
  const bool wide = x.size(1) < x.size(2), all = u.defined();
  const HostMatrices a = HostMatrices::of(wide ? adjoint(x) : x);
  const int64_t B = a.count(), M = a[0].rows, N = a[0].columns;
  const int64_t C = !all ? 0 : wide ? vh.size(1) : u.size(2);
  const HostMatrices q = HostMatrices::zeros(B, M, C);
  for (int64_t b = 0; b < B; ++b) factor_qr(a[b], q[b]);
  const HostMatrices r = HostMatrices::of(narrow(a.tensor(), 1, 0, N));
  const HostMatrices left = HostMatrices::zeros(B, N, N), right = HostMatrices::zeros(B, N, N);
  for (int64_t b = 0; b < B; ++b) reduce_to_bidiagonal(r[b], left[b], right[b]);
  Tensor ru = all ? doubles({B, N, N}) : Tensor(), rv = all ? doubles({B, N, N}) : Tensor();
  Tensor values = doubles(s.sizes()), failed = allocate("complex", info.sizes(), kInt32, kCPU);
  kernels::svd(ru, values, rv, failed, real_band(r, false));
  write(s, values);
  write(info, failed);
  if (!all) return;
  const Tensor first = times(narrow(q.tensor(), 2, 0, N).contiguous(), times(left.tensor(), ru));
  const Tensor columns = C == N ? first : cat({first, narrow(q.tensor(), 2, N, C - N)}, 2);
  const Tensor others = times(right.tensor(), rv.transpose(1, 2).contiguous());
  write(u, wide ? others : columns);
  write(vh, adjoint(wide ? columns : others));
}

}  // namespace ambit
