// The composite of the Fourier transform: products with matrices for short lines; lines of length
// n1 n2 by transforms of n1 and of n2 elements (Cooley and Tukey); lines of a large prime length as
// a convolution, which is computed by transforms of a different length (Bluestein). Factors are
// computed in float64 on the host.
#include <ambit/backend/unit_root.h>
#include <ambit/ops/creation.h>
#include <ambit/ops/elementwise.h>
#include <ambit/ops/matmul.h>
#include <ambit/ops/shape.h>

#include <bit>
#include <complex>

#include "core/ops/composite.h"

namespace ambit {
namespace {

constexpr int64_t kMostByProduct = 64;  // longest line that is multiplied by a matrix
constexpr int64_t kMostPrime = 4 * 64;  // the same without a factor <= 64

// Return exp(2 pi i m / n) for any m.
std::complex<double> root(int64_t m, int64_t n) {
  const int64_t rest = m % n;
  return unit_root(rest < 0 ? rest + n : rest, n);
}

// Return pairs [count, 2] of value(i), a complex number, on the host.
template <class F>
Tensor pairs(int64_t count, F value) {
  const Tensor host = empty({count, 2}, TensorOptions(kFloat64).device(kCPU));
  auto* p = host.data_ptr<double>();
  for (int64_t i = 0; i < count; ++i) {
    const std::complex<double> v = value(i);
    p[2 * i] = v.real(), p[2 * i + 1] = v.imag();
  }
  return host;
}

Tensor like(const Tensor& host, const Tensor& x) { return host.to(x.dtype()).to(x.device()); }

// Multiply pairs; factors broadcast.
Tensor product(const Tensor& x, const Tensor& w) {
  const Tensor re = x.select(-1, 0), im = x.select(-1, 1);
  const Tensor c = w.select(-1, 0), s = w.select(-1, 1);
  return stack({re * c - im * s, re * s + im * c}, -1);
}

int64_t factor_of(int64_t n) {
  for (int64_t f = kMostByProduct; f > 1; --f) {
    if (n % f == 0) return f;
  }
  return 1;
}

// Transform x [B,n,C,2] along n, without a scale; `sign` is the sign of the exponent.
Tensor transformed(const Tensor& x, int64_t sign);

Tensor by_product(const Tensor& x, int64_t sign) {
  const int64_t B = x.size(0), n = x.size(1), C = x.size(2);
  const Tensor roots = pairs(n * n, [=](int64_t i) { return root(sign * (i / n) * (i % n), n); });
  const Tensor w = roots.view({n, n, 2});
  const Tensor cosine = w.select(-1, 0), sine = w.select(-1, 1);
  if (C == 1) {  // multiply rows of 2 n numbers by a matrix
    // The matrix [re or im of x, re or im of y].
    const Tensor both = stack({stack({cosine, sine}, -1), stack({neg(sine), cosine}, -1)}, 1);
    const Tensor y = matmul(x.reshape({B, 2 * n}), like(both.reshape({2 * n, 2 * n}), x));
    return y.view({B, n, 1, 2});
  }
  const Tensor lines = x.reshape({B, n, 2 * C});
  const auto times = [&](const Tensor& matrix) {
    return matmul(like(matrix, x), lines).view({B, n, C, 2});
  };
  const Tensor c = times(cosine), s = times(sine);
  return stack({c.select(-1, 0) - s.select(-1, 1), c.select(-1, 1) + s.select(-1, 0)}, -1);
}

// Elements of x have the number j1 n2 + j2, elements of the result k1 + n1 k2.
Tensor by_factors(const Tensor& x, int64_t n1, int64_t sign) {
  const int64_t B = x.size(0), n = x.size(1), n2 = n / n1, C = x.size(2);
  const Tensor columns = transformed(x.reshape({B, n1, n2 * C, 2}), sign);
  const Tensor turns = pairs(n, [=](int64_t i) { return root(sign * (i / n2) * (i % n2), n); });
  const Tensor turned =
      product(columns.view({B, n1, n2, C, 2}), like(turns, x).view({n1, n2, 1, 2}));
  const Tensor y = transformed(turned.view({B * n1, n2, C, 2}), sign);
  return y.view({B, n1, n2, C, 2}).transpose(1, 2).reshape({B, n, C, 2});
}

// With j k = (j^2 + k^2 - (k - j)^2) / 2 the sum is a convolution of x[j] w[j] with 1 / w, for w[j]
// = exp(sign pi i j^2 / n). Its length is rounded up to a power of two.
Tensor by_convolution(const Tensor& x, int64_t sign) {
  const int64_t B = x.size(0), n = x.size(1), C = x.size(2);
  const auto m = static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(2 * n - 1)));
  int64_t square = 0;  // of i, modulo 2 n
  const Tensor w = pairs(n, [&](int64_t i) {
    const std::complex<double> v = root(sign * square, 2 * n);
    square = (square + 2 * i + 1) % (2 * n);
    return v;
  });
  const double* pw = w.data_ptr<double>();
  const Tensor filter = pairs(m, [=](int64_t i) -> std::complex<double> {
    const int64_t j = i < n ? i : m - i;
    if (j >= n) return 0;
    return {pw[2 * j], -pw[2 * j + 1]};
  });
  Tensor spectrum = empty({1, m, 1, 2}, filter.options());
  kernels::fft_pairs(spectrum, filter.view({1, m, 1, 2}), false, 1 / static_cast<double>(m));
  const Tensor factors = like(w, x).view({n, 1, 2});
  const Tensor lines = product(x, factors);
  const Tensor padded = cat({lines, zeros({B, m - n, C, 2}, x.options())}, 1);
  const Tensor convolved =
      transformed(product(transformed(padded, -1), like(spectrum.view({m, 1, 2}), x)), 1);
  return product(convolved.narrow(1, 0, n), factors);
}

Tensor transformed(const Tensor& x, int64_t sign) {
  const int64_t n = x.size(1);
  if (n <= kMostByProduct) return by_product(x, sign);
  if (const int64_t n1 = factor_of(n); n1 > 1) return by_factors(x, n1, sign);
  return n <= kMostPrime ? by_product(x, sign) : by_convolution(x, sign);
}

}  // namespace

void composite::fft_pairs(Tensor& y, const Tensor& x, bool inverse, double scale) {
  if (x.numel() == 0) return;
  const Tensor sums = transformed(x, inverse ? 1 : -1);
  y.copy_(scale == 1 ? sums : sums * scale);
}

}  // namespace ambit
