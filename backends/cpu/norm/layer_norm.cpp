// Layer and RMS normalisation and their gradient: rows x [M,N]. A row is read from memory once and
// stays in the cache for its second and third pass; the gradients of weight and bias are sums over
// blocks of rows that do not depend on the number of threads.
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
#include "wide_moments.h"

HWY_BEFORE_NAMESPACE();
namespace ambit::cpu::HWY_NAMESPACE {
namespace {

/// A normalised element is (x - mean) * inverse - shift. The shift corrects the rounding error of
/// the mean in T, which may be large compared with x - mean.
template <class T>
struct Statistics {
  T mean, inverse, shift;
};

template <class T>
Statistics<T> rounded(double mean, double inverse) {
  const T center = static_cast<T>(mean);
  return {center, static_cast<T>(inverse),
          static_cast<T>((mean - static_cast<double>(center)) * inverse)};
}

/// The statistics of a row whose squares overflow or underflow in T.
template <class T>
[[gnu::noinline]] Statistics<T> wide_statistics(int64_t N, const T* x, double eps, bool centered) {
  const WideMoments s = wide_moments(x, 1, 0, N, 1, eps, centered);
  return rounded<T>(s.mean, s.inverse);
}

template <class T>
Statistics<T> row_statistics(int64_t N, const T* x, double eps, bool centered) {
  const auto length = static_cast<double>(N);
  if (!centered) {
    const double squares = sum_of<T>(N, [x](int64_t n) { return x[n] * x[n]; });
    if (!keeps_squares<T>(squares, eps * length)) return wide_statistics(N, x, eps, centered);
    return {T(0), static_cast<T>(1 / std::sqrt(squares / length + eps)), T(0)};
  }
  const T center = static_cast<T>(total_of(N, x) / length);
  const auto [rest, squares] = sums_about(center, N, x);
  if (!keeps_squares<T>(squares, eps * length)) return wide_statistics(N, x, eps, centered);
  const Squares s = corrected(static_cast<double>(center), rest, squares, length);
  return rounded<T>(s.mean, 1 / std::sqrt(s.squares / length + eps));
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
      const Statistics<T> s = row_statistics(N, from, eps, centered);
      const T c = pm[m] = s.mean, inverse = pi[m] = s.inverse, less = s.shift;
      if (pw && pb) {
#pragma omp simd
        for (int64_t n = 0; n < N; ++n) to[n] = ((from[n] - c) * inverse - less) * pw[n] + pb[n];
      } else {
#pragma omp simd
        for (int64_t n = 0; n < N; ++n) to[n] = (from[n] - c) * inverse - less;
        if (pw) {
#pragma omp simd
          for (int64_t n = 0; n < N; ++n) to[n] *= pw[n];
        }
        if (pb) {
#pragma omp simd
          for (int64_t n = 0; n < N; ++n) to[n] += pb[n];
        }
      }
    }
  });
}

// For one row, dx = invstd (g - mean(g) - u mean(g u)) with g = dy w and u = (x - mean) invstd.
// Adds dy and dy u to sums and products [N].
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
    // Few rows are summed in T before the sums are added to doubles.
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
