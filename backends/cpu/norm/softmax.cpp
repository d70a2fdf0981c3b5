// softmax, log_softmax and their gradients. A line is the elements along dim: contiguous, or, if
// dim is not the last, interleaved with other lines. Our own kernels are used for both dtypes:
// oneDNN 2.6 has no float64 and loses NaN in its exponential.
#include "backends/cpu/runtime/simd_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/norm/softmax.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <cmath>

#include "backends/cpu/kernels.h"
#include "backends/cpu/runtime/parallel.h"
#include "backends/cpu/runtime/stream.h"
#include "softmax_line-inl.h"
#include "softmax_strips-inl.h"

HWY_BEFORE_NAMESPACE();
namespace ambit::cpu::HWY_NAMESPACE {
namespace {

/// Sum n elements: f(i, m) returns the vector at i, of which only the first m elements count.
template <class T, class F>
T total(int64_t n, const F& f) {
  const hn::ScalableTag<T> d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  double sum = 0;
  for (int64_t begin = 0; begin < n; begin += kBlock) {
    const int64_t end = std::min(n, begin + kBlock);
    auto part = hn::Zero(d);
    for (int64_t i = begin; i < end; i += lanes) part = hn::Add(part, f(i, end - i));
    sum += static_cast<double>(hn::GetLane(hn::SumOfLanes(d, part)));
  }
  return static_cast<T>(sum);
}

/// y = softmax(x), one contiguous line of n.
template <class T>
void softmax_line(int64_t n, T* y, const T* x, bool log) {
  const T most = largest(n, x);
  if (!log) return scale(n, y, static_cast<T>(1 / sum_exponentials(n, y, x, most)));
  const T log_sum = static_cast<T>(std::log(sum_exponentials<T>(n, nullptr, x, most)));
#pragma omp simd
  for (int64_t i = 0; i < n; ++i) y[i] = (x[i] - most) - log_sum;
}

/// dx = dy - exp(y) * sum
template <class T>
void log_softmax_grad(int64_t n, T* dx, const T* dy, const T* y, T sum) {
  const hn::ScalableTag<T> d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  const auto s = hn::Set(d, sum);
  for (int64_t i = 0; i < n; i += lanes) {
    const auto p = Exp()(d, load(d, y + i, n - i));
    store(hn::NegMulAdd(p, s, load(d, dy + i, n - i)), d, dx + i, n - i);
  }
}

template <class T>
void softmax_grad_line(int64_t n, T* dx, const T* dy, const T* y, bool log) {
  const hn::ScalableTag<T> d;
  if (log) {
    const auto term = [&](int64_t i, int64_t m) HWY_ATTR { return load(d, dy + i, m); };
    return log_softmax_grad(n, dx, dy, y, total<T>(n, term));
  }
  const T sum = total<T>(n, [&](int64_t i, int64_t m) HWY_ATTR {
    return hn::Mul(load(d, dy + i, m), load(d, y + i, m));
  });
#pragma omp simd
  for (int64_t i = 0; i < n; ++i) dx[i] = y[i] * (dy[i] - sum);
}

/// sum += exp(x - most); also write the exponentials to y unless it is null.
template <class T>
void add_exponentials(int64_t n, T* y, T* sum, const T* x, const T* most) {
  const hn::ScalableTag<T> d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  for (int64_t i = 0; i < n; i += lanes) {
    const int64_t m = n - i;
    const auto e = exp_nonpositive(d, hn::Sub(load(d, x + i, m), load(d, most + i, m)));
    if (y) store(e, d, y + i, m);
    store(hn::Add(load(d, sum + i, m), e), d, sum + i, m);
  }
}

/// Compute softmax of `width` <= kBlock adjacent lines of n elements with stride `step`.
template <class T>
void softmax_lines(int64_t n, int64_t step, int64_t width, T* y, const T* x, bool log) {
  alignas(64) T most[kBlock], part[kBlock];
  alignas(64) double sum[kBlock];
  std::copy_n(x, width, most);
  std::fill_n(sum, width, 0.0);
  for (int64_t i = 1; i < n; ++i) {
    const T* row = x + i * step;
#pragma omp simd
    for (int64_t j = 0; j < width; ++j) most[j] = row[j] > most[j] ? row[j] : most[j];
  }
  for (int64_t begin = 0; begin < n; begin += kBlock) {
    std::fill_n(part, width, T(0));
    for (int64_t i = begin; i < std::min(n, begin + kBlock); ++i) {
      add_exponentials(width, log ? nullptr : y + i * step, part, x + i * step, most);
    }
    for (int64_t j = 0; j < width; ++j) sum[j] += static_cast<double>(part[j]);
  }
  for (int64_t j = 0; j < width; ++j) part[j] = static_cast<T>(log ? std::log(sum[j]) : 1 / sum[j]);
  for (int64_t i = 0; i < n * step; i += step) {
#pragma omp simd
    for (int64_t j = 0; j < width; ++j) {
      y[i + j] = log ? (x[i + j] - most[j]) - part[j] : y[i + j] * part[j];
    }
  }
}

template <class T>
void softmax_grad_lines(int64_t n, int64_t step, int64_t width, T* dx, const T* dy, const T* y,
                        bool log) {
  alignas(64) T shown[kBlock];
  alignas(64) double sum[kBlock];
  std::fill_n(sum, width, 0.0);
  for (int64_t i = 0; i < n * step; i += step) {
#pragma omp simd
    for (int64_t j = 0; j < width; ++j) {
      sum[j] += static_cast<double>(log ? dy[i + j] : dy[i + j] * y[i + j]);
    }
  }
  for (int64_t i = 0; i < n * step; i += step) {
    if (log) vector_unary<T, Exp>(width, shown, y + i);
    const T* factor = log ? shown : y + i;
#pragma omp simd
    for (int64_t j = 0; j < width; ++j) {
      const T s = static_cast<T>(sum[j]);
      dx[i + j] = log ? dy[i + j] - factor[j] * s : factor[j] * (dy[i + j] - s);
    }
  }
}

/// Sizes of a tensor as [outer, n, inner].
struct Extent {
  int64_t outer, n, inner;
};

/// Call line(offset) for each contiguous line, or lines(offset, width) for each block of
/// interleaved lines.
template <class Line, class Lines>
void for_extent(const Extent& e, const Line& line, const Lines& lines) {
  if (e.inner == 1) {
    return parallel_for(e.outer, grain_for(8 * e.n), [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) line(i * e.n);
    });
  }
  const int64_t blocks = (e.inner + kBlock - 1) / kBlock;
  parallel_for(e.outer * blocks, grain_for(8 * e.n * std::min(e.inner, kBlock)),
               [&](int64_t begin, int64_t end) {
                 for (int64_t i = begin; i < end; ++i) {
                   const int64_t first = i % blocks * kBlock;
                   lines(i / blocks * e.n * e.inner + first, std::min(kBlock, e.inner - first));
                 }
               });
}

/// Process whole strips, then the remaining lines.
template <class T>
void run_strips(const Extent& e, T* y, const T* x, bool log) {
  constexpr int64_t kWidth = Strip<T>::kWidth;
  const int64_t strips = e.inner / kWidth, rest = e.inner % kWidth;
  const auto at = [&](int64_t k) { return k / strips * e.n * e.inner + k % strips * kWidth; };
  parallel_for(e.outer * strips, 1, [&](int64_t begin, int64_t end) {
    softmax_strips(e.n, e.inner, begin, end, y, x, log, at);
  });
  if (rest == 0) return;
  parallel_for(e.outer, 1, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const int64_t last = i * e.n * e.inner + e.inner - rest;
      softmax_lines(e.n, e.inner, rest, y + last, x + last, log);
    }
  });
}

template <class T>
void run(const Extent& e, T* y, const T* x, bool log) {
  const auto bytes = e.outer * e.n * e.inner * static_cast<int64_t>(sizeof(T));
  if (e.inner >= Strip<T>::kWidth && e.n <= Strip<T>::kMostRows && outgrows_caches(bytes)) {
    return run_strips(e, y, x, log);
  }
  for_extent(
      e, [&](int64_t at) { softmax_line(e.n, y + at, x + at, log); },
      [&](int64_t at, int64_t width) { softmax_lines(e.n, e.inner, width, y + at, x + at, log); });
}

template <class T>
void run_grad(const Extent& e, T* dx, const T* dy, const T* y, bool log) {
  for_extent(
      e, [&](int64_t at) { softmax_grad_line(e.n, dx + at, dy + at, y + at, log); },
      [&](int64_t at, int64_t width) {
        softmax_grad_lines(e.n, e.inner, width, dx + at, dy + at, y + at, log);
      });
}

Extent extent_of(const Tensor& t, int64_t dim) {
  Extent e{1, 1, 1};
  for (int64_t d = 0; d < t.dim(); ++d) {
    const int64_t size = t.sizes()[static_cast<size_t>(d)];
    (d < dim ? e.outer : d == dim ? e.n : e.inner) *= size;
  }
  return e;
}

void softmax_any(const Tensor& y, const Tensor& x, int64_t dim, bool log) {
  const Extent e = extent_of(y, dim);
  visit<dtypes::kFloating>(y.dtype(),
                           [&]<class T>() { run(e, y.data_ptr<T>(), x.data_ptr<T>(), log); });
}

void softmax_grad_any(const Tensor& dx, const Tensor& dy, const Tensor& y, int64_t dim, bool log) {
  const Extent e = extent_of(dx, dim);
  visit<dtypes::kFloating>(dx.dtype(), [&]<class T>() {
    run_grad(e, dx.data_ptr<T>(), dy.data_ptr<T>(), y.data_ptr<T>(), log);
  });
}

}  // namespace
}  // namespace ambit::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ambit::cpu {

HWY_EXPORT(softmax_any);
HWY_EXPORT(softmax_grad_any);

void softmax(Tensor& y, const Tensor& x, int64_t dim, bool log) {
  if (y.numel() > 0) HWY_DYNAMIC_DISPATCH(softmax_any)(y, x, dim, log);
}

void softmax_grad(Tensor& dx, const Tensor& dy, const Tensor& y, int64_t dim, bool log) {
  if (dx.numel() > 0) HWY_DYNAMIC_DISPATCH(softmax_grad_any)(dx, dy, y, dim, log);
}

}  // namespace ambit::cpu
#endif
