// Layer and RMS normalisation and their gradient: rows x [M,N]. A row is read from memory once and
// remains in the cache for the second and third pass. The gradients of weight and bias are sums
// over blocks of rows, which do not depend on the number of threads.
#include "backends/cpu/runtime/simd_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/norm/layer_norm.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>
#include <cmath>

#include "backends/cpu/kernels.h"
#include "backends/cpu/runtime/parallel.h"
#include "norm_rows-inl.h"
#include "wide_moments-inl.h"

HWY_BEFORE_NAMESPACE();
namespace ambit::cpu::HWY_NAMESPACE {
namespace {

/// Normalised x = (x - mean) * inverse - shift. shift / inverse is the rounding error of the mean
/// in T, which may be large compared with x - mean.
template <class T>
struct Statistics {
  T mean, inverse, shift;
};

/// Compute the statistics of a row; return false if its squares overflow or underflow in T.
template <class T>
HWY_INLINE bool row_statistics(int64_t N, const T* x, double eps, bool centered,
                               Statistics<T>& row) {
  const auto length = static_cast<double>(N);
  if (!centered) {
    const double squares = sum_of<T>(N, [x](int64_t n) { return x[n] * x[n]; });
    row = {T(0), static_cast<T>(1 / std::sqrt(squares / length + eps)), T(0)};
    return keeps_squares<T>(squares, eps * length);
  }
  const T center = static_cast<T>(total_of(N, x) / length);
  const auto [rest, squares] = sums_about(center, N, x);
  const Squares s = corrected(static_cast<double>(center), rest, squares, length);
  const double inverse = 1 / std::sqrt(s.squares / length + eps);
  row.mean = static_cast<T>(s.mean);
  row.inverse = static_cast<T>(inverse);
  row.shift = static_cast<T>((s.mean - static_cast<double>(row.mean)) * inverse);
  return keeps_squares<T>(squares, eps * length);
}

/// y[n] = normalised(n) * w[n] + b[n]; w and b may be null.
template <class T, class F>
HWY_INLINE void write_row(int64_t N, T* y, const T* w, const T* b, const F& normalised) {
  if (w && b) {
#pragma omp simd
    for (int64_t n = 0; n < N; ++n) y[n] = normalised(n) * w[n] + b[n];
    return;
  }
#pragma omp simd
  for (int64_t n = 0; n < N; ++n) y[n] = normalised(n);
  if (w) {
#pragma omp simd
    for (int64_t n = 0; n < N; ++n) y[n] *= w[n];
  }
  if (b) {
#pragma omp simd
    for (int64_t n = 0; n < N; ++n) y[n] += b[n];
  }
}

/// Compute statistics and y of a row whose squares overflow or underflow in T.
template <class T>
[[gnu::noinline]] void write_wide_row(int64_t N, T* y, T& mean, T& inverse, const T* x, const T* w,
                                      const T* b, double eps, bool centered) {
  const WideMoments s = wide_moments(x, 1, 0, N, eps, centered);
  const WideNormaliser<T> normaliser(s);
  mean = static_cast<T>(s.mean);
  inverse = static_cast<T>(s.inverse);
  write_row(N, y, w, b, [=](int64_t n) { return normaliser(x[n]); });
}

// y, x [M,N]; mean, invstd [M]; w, b [N] or undefined
template <class T>
void forward(Tensor& y, Tensor& mean, Tensor& invstd, const Tensor& x, const Tensor& w,
             const Tensor& b, double eps, bool centered) {
  const int64_t M = x.size(0), N = x.size(1);
  T *py = y.data_ptr<T>(), *pm = mean.data_ptr<T>(), *pi = invstd.data_ptr<T>();
  const T *px = x.data_ptr<T>(), *pw = data_or_null<T>(w), *pb = data_or_null<T>(b);
  parallel_for(M, grain_for(3 * N), [&](int64_t first, int64_t past) {
    for (int64_t m = first; m < past; ++m) {
      const T* from = px + m * N;
      T* to = py + m * N;
      Statistics<T> row;
      if (!row_statistics(N, from, eps, centered, row)) {
        write_wide_row(N, to, pm[m], pi[m], from, pw, pb, eps, centered);
        continue;
      }
      const T c = pm[m] = row.mean, inverse = pi[m] = row.inverse, less = row.shift;
      write_row(N, to, pw, pb, [=](int64_t n) { return (from[n] - c) * inverse - less; });
    }
  });
}

// For one row: dx = invstd (g - mean(g) - u mean(g u)) with g = dy w and u = (x - mean) invstd.
// Adds dy to sums [N] and dy u to products [N].
template <class T>
void grad_row(int64_t N, T* dx, const T* dy, const T* x, const T* w, T center, T inverse,
              bool centered, T* sums, T* products) {
  const auto length = static_cast<double>(N);
  const auto [sum_g, product] = gradient_sums(N, dy, w, x, center);
  const T less = centered ? static_cast<T>(sum_g / length) : T(0);
  const T tilt = static_cast<T>(product / length * static_cast<double>(inverse));
  const auto write = [&](const auto& weight) {
#pragma omp simd
    for (int64_t n = 0; n < N; ++n) {
      const T g = dy[n], u = (x[n] - center) * inverse;
      sums[n] += g;
      products[n] += g * u;
      dx[n] = inverse * (g * weight(n) - less - u * tilt);
    }
  };
  if (w) return write([w](int64_t n) { return w[n]; });
  write([](int64_t) { return T(1); });
}

// total += part; part = 0.
template <class T>
void fold(int64_t N, double* total, T* part) {
#pragma omp simd
  for (int64_t n = 0; n < N; ++n) total[n] += static_cast<double>(part[n]);
  std::fill_n(part, N, T(0));
}

// dx, dy, x [M,N]; dw, db, w [N], w maybe undefined; mean, invstd [M]
template <class T>
void backward(Tensor& dx, Tensor& dw, Tensor& db, const Tensor& dy, const Tensor& x,
              const Tensor& w, const Tensor& mean, const Tensor& invstd, bool centered) {
  const int64_t M = x.size(0), N = x.size(1);
  T *pdx = dx.data_ptr<T>(), *pdw = dw.data_ptr<T>(), *pdb = db.data_ptr<T>();
  const T *pdy = dy.data_ptr<T>(), *px = x.data_ptr<T>(), *pw = data_or_null<T>(w);
  const T *pm = mean.data_ptr<T>(), *pi = invstd.data_ptr<T>();
  const RowBlocks blocks(M, N);
  blocks.for_blocks([&](int64_t first, int64_t rows, double* products, double* sums) {
    // Rows summed in T before the sum is added to a double.
    constexpr int64_t kRows = 16;
    const Scratch parts(static_cast<size_t>(2 * N) * sizeof(T));
    T *part_products = parts.data<T>(), *part_sums = part_products + N;
    std::fill_n(part_products, 2 * N, T(0));
    std::fill_n(products, N, 0.0);
    std::fill_n(sums, N, 0.0);
    for (int64_t r = 0; r < rows; ++r) {
      const int64_t m = first + r;
      grad_row(N, pdx + m * N, pdy + m * N, px + m * N, pw, pm[m], pi[m], centered, part_sums,
               part_products);
      if (r % kRows == kRows - 1 || r == rows - 1) {
        fold(N, products, part_products);
        fold(N, sums, part_sums);
      }
    }
  });
  const Scratch scratch(static_cast<size_t>(2 * N) * sizeof(double));
  double *product = scratch.data<double>(), *sum = product + N;
  std::fill_n(product, 2 * N, 0.0);
  blocks.merge([&](int64_t, int64_t, const double* products, const double* sums) {
#pragma omp simd
    for (int64_t n = 0; n < N; ++n) {
      product[n] += products[n];
      sum[n] += sums[n];
    }
  });
  for (int64_t n = 0; n < N; ++n) {
    pdw[n] = static_cast<T>(product[n]);
    pdb[n] = static_cast<T>(sum[n]);
  }
}

void forward_any(Tensor& y, Tensor& mean, Tensor& invstd, const Tensor& x, const Tensor& w,
                 const Tensor& b, double eps, bool centered) {
  visit<dtypes::kFloating>(y.dtype(),
                           [&]<class T>() { forward<T>(y, mean, invstd, x, w, b, eps, centered); });
}

void backward_any(Tensor& dx, Tensor& dw, Tensor& db, const Tensor& dy, const Tensor& x,
                  const Tensor& w, const Tensor& mean, const Tensor& invstd, bool centered) {
  visit<dtypes::kFloating>(
      dx.dtype(), [&]<class T>() { backward<T>(dx, dw, db, dy, x, w, mean, invstd, centered); });
}

}  // namespace
}  // namespace ambit::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ambit::cpu {

HWY_EXPORT(forward_any);
HWY_EXPORT(backward_any);

void layer_norm(Tensor& y, Tensor& mean, Tensor& invstd, const Tensor& x, const Tensor& w,
                const Tensor& b, double eps, bool centered) {
  HWY_DYNAMIC_DISPATCH(forward_any)(y, mean, invstd, x, w, b, eps, centered);
}

void layer_norm_grad(Tensor& dx, Tensor& dw, Tensor& db, const Tensor& dy, const Tensor& x,
                     const Tensor& w, const Tensor& mean, const Tensor& invstd, bool centered) {
  HWY_DYNAMIC_DISPATCH(backward_any)(dx, dw, db, dy, x, w, mean, invstd, centered);
}

}  // namespace ambit::cpu
#endif
