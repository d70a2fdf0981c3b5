// LU and Cholesky factorisations and triangular systems of complex matrices, on the host in
// complex128.
#include <ambit/error.h>
#include <fmt/format.h>

#include <cmath>
#include <utility>

#include "core/ops/complex/host_matrix.h"
#include "core/ops/complex/kernels.h"

namespace ambit {
namespace {

// LAPACK's measure for pivots.
double magnitude(const Complex& z) { return std::abs(z.real()) + std::abs(z.imag()); }

void swap_rows(const HostMatrix& m, int64_t i, int64_t j) {
  if (i != j) std::swap_ranges(m.row(i), m.row(i) + m.columns, m.row(j));
}

// a = L U, with the rows in order of the pivots; return info.
int32_t factor_lu(const HostMatrix& a, int32_t* pivots) {
  int32_t info = 0;
  for (int64_t k = 0; k < std::min(a.rows, a.columns); ++k) {
    int64_t best = k;
    for (int64_t i = k + 1; i < a.rows; ++i) {
      if (magnitude(a(i, k)) > magnitude(a(best, k))) best = i;
    }
    pivots[k] = static_cast<int32_t>(best + 1);
    if (a(best, k) == Complex(0)) {
      if (info == 0) info = static_cast<int32_t>(k + 1);
      continue;
    }
    swap_rows(a, k, best);
    for (int64_t i = k + 1; i < a.rows; ++i) {
      a(i, k) /= a(k, k);
      add_scaled(&a(i, k) + 1, -a(i, k), &a(k, k) + 1, a.columns - k - 1);
    }
  }
  return info;
}

// y := A^-1 y, where A is the triangle of a, or its transpose, that p selects.
void substitute(const HostMatrix& a, const HostMatrix& y, const TriangularParams& p) {
  const auto element = [&](int64_t i, int64_t j) { return p.transpose ? a(j, i) : a(i, j); };
  const bool upwards = p.upper != p.transpose;
  for (int64_t step = 0; step < y.rows; ++step) {
    const int64_t i = upwards ? y.rows - 1 - step : step;
    const int64_t first = upwards ? i + 1 : 0, past = upwards ? y.rows : i;
    for (int64_t j = first; j < past; ++j) {
      add_scaled(y.row(i), -element(i, j), y.row(j), y.columns);
    }
    if (p.unitriangular) continue;
    const Complex diagonal = element(i, i);
    for (int64_t r = 0; r < y.columns; ++r) y(i, r) /= diagonal;
  }
}

void solve_by_lu(const HostMatrix& lu, const int32_t* pivots, const HostMatrix& y, bool transpose) {
  const TriangularParams lower{.upper = false, .transpose = transpose, .unitriangular = true};
  const TriangularParams upper{.upper = true, .transpose = transpose};
  for (int64_t k = 0; !transpose && k < y.rows; ++k) swap_rows(y, k, pivots[k] - 1);
  substitute(lu, y, transpose ? upper : lower);
  substitute(lu, y, transpose ? lower : upper);
  for (int64_t k = y.rows - 1; transpose && k >= 0; --k) swap_rows(y, k, pivots[k] - 1);
}

// Factor x = L L^H and write L into y, which holds zeros. Read only the lower triangle of x. Return
// info.
int32_t factor_cholesky(const HostMatrix& y, const HostMatrix& x) {
  for (int64_t j = 0; j < y.rows; ++j) {
    for (int64_t i = j; i < y.rows; ++i) {
      Complex sum = i == j ? Complex(x(i, j).real()) : x(i, j);
      for (int64_t k = 0; k < j; ++k) sum -= product(y(i, k), std::conj(y(j, k)));
      if (i == j) {
        if (!(sum.real() > 0)) return static_cast<int32_t>(j + 1);
        y(j, j) = std::sqrt(sum.real());
      } else {
        y(i, j) = sum / y(j, j).real();
      }
    }
  }
  return 0;
}

// Replace a square matrix by its conjugate transpose.
void conjugate_transpose(const HostMatrix& m) {
  for (int64_t i = 0; i < m.rows; ++i) {
    m(i, i) = std::conj(m(i, i));
    for (int64_t j = 0; j < i; ++j) {
      const Complex below = m(i, j);
      m(i, j) = std::conj(m(j, i));
      m(j, i) = std::conj(below);
    }
  }
}

Tensor ints_like(const Tensor& t) { return allocate("complex", t.sizes(), kInt32, kCPU); }

}  // namespace

// lu, x [B,M,N]; pivots [B,min(M,N)]; info [B]
void by_parts::lu_factor(Tensor& lu, Tensor& pivots, Tensor& info, const Tensor& x) {
  const HostMatrices a = HostMatrices::of(x);
  const Tensor rows = ints_like(pivots), failed = ints_like(info);
  for (int64_t b = 0; b < a.count(); ++b) {
    failed.data_ptr<int32_t>()[b] = factor_lu(a[b], rows.data_ptr<int32_t>() + b * pivots.size(1));
  }
  a.write_to(lu);
  write_back(pivots, rows);
  write_back(info, failed);
}

// y, b [B,N,R]; lu [B,N,N]; pivots [B,N]
void by_parts::lu_solve(Tensor& y, const Tensor& lu, const Tensor& pivots, const Tensor& b,
                        bool transpose) {
  const HostMatrices a = HostMatrices::of(lu), out = HostMatrices::of(b);
  const int64_t n = lu.size(1);
  const Tensor rows = pivots.to(kCPU).contiguous();
  const int32_t* p = rows.data_ptr<int32_t>();
  for (int64_t i = 0; i < rows.numel(); ++i) {
    if (p[i] < 1 || p[i] > n) {
      throw IndexError(fmt::format("lu_solve: expected pivots in [1, {}], got {}", n, p[i]));
    }
  }
  for (int64_t i = 0; i < a.count(); ++i) solve_by_lu(a[i], p + i * n, out[i], transpose);
  out.write_to(y);
}

// y, b [B,N,R]; a [B,N,N]
void by_parts::triangular_solve(Tensor& y, const Tensor& a, const Tensor& b,
                                const TriangularParams& p) {
  const HostMatrices triangles = HostMatrices::of(a), out = HostMatrices::of(b);
  for (int64_t i = 0; i < out.count(); ++i) substitute(triangles[i], out[i], p);
  out.write_to(y);
}

// y, x [B,N,N]; info [B]
void by_parts::cholesky(Tensor& y, Tensor& info, const Tensor& x, bool upper) {
  const HostMatrices in = HostMatrices::of(x);
  const HostMatrices out = HostMatrices::zeros(x.size(0), x.size(1), x.size(2));
  const Tensor failed = ints_like(info);
  for (int64_t b = 0; b < in.count(); ++b) {
    if (upper) conjugate_transpose(in[b]);
    failed.data_ptr<int32_t>()[b] = factor_cholesky(out[b], in[b]);
    if (upper) conjugate_transpose(out[b]);
  }
  out.write_to(y);
  write_back(info, failed);
}

}  // namespace ambit
