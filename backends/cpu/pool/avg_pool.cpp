// Average pooling and its gradient. Row-major: the input rows of a row of windows are summed first,
// then the windows of that row; channels-last: whole pixels are summed. Our own code is used for
// both dtypes, since oneDNN's average pooling is not faster.
#include "backends/cpu/runtime/simd_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/pool/avg_pool.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>
#include <vector>

#include "backends/cpu/kernels.h"
#include "backends/cpu/layout/channels_last.h"
#include "backends/cpu/layout/native_scope.h"
#include "backends/cpu/runtime/parallel.h"
#include "pool_channels_last.h"
#include "pool_windows.h"

HWY_BEFORE_NAMESPACE();
namespace ambit::cpu::HWY_NAMESPACE {
namespace {

/// The compiler vectorises this loop; iterations are independent.
template <class T>
void add(int64_t n, T* y, const T* x) {
#pragma omp simd
  for (int64_t i = 0; i < n; ++i) y[i] += x[i];
}
template <class T>
void divide(int64_t n, T* y, const T* x, T by) {
#pragma omp simd
  for (int64_t i = 0; i < n; ++i) y[i] = x[i] / by;
}
template <class T>
T sum(int64_t n, const T* x) {
  T total = 0;
#pragma omp simd reduction(+ : total)
  for (int64_t i = 0; i < n; ++i) total += x[i];
  return total;
}

/// A row of windows: the span of each, the range of windows without padding, and the divisors.
class RowOfWindows {
 public:
  RowOfWindows(const PoolImages& s, const PoolParams& p) : w_(s.w), p_(p) {
    for (int64_t j = 0; j < w_.out; ++j) spans_.emplace_back(j, w_);
    if (w_.stride == 0) return;
    whole_begin = std::min(w_.out, (w_.padding + w_.stride - 1) / w_.stride);
    const int64_t room = w_.in + w_.padding - w_.kernel;
    whole_end = room < 0 ? whole_begin : std::clamp(room / w_.stride + 1, whole_begin, w_.out);
    // If windows are few and long, sum them one by one.
    if (whole_end - whole_begin < 4) whole_end = whole_begin;
  }
  const Span& span(int64_t j) const { return spans_[static_cast<size_t>(j)]; }
  int64_t count(const Span& span) const { return p_.count_include_pad ? span.extent : span.size(); }
  /// Return the divisor of window j, of `rows` rows; 1 for padding only, whose mean is 0.
  template <class T>
  T divisor(int64_t rows, int64_t j) const {
    if (p_.divisor != 0) return static_cast<T>(p_.divisor);
    return static_cast<T>(std::max<int64_t>(rows * count(span(j)), 1));
  }
  /// Call f(j) for the windows with padding.
  template <class F>
  void for_others(const F& f) const {
    for (int64_t j = 0; j < whole_begin; ++j) f(j);
    for (int64_t j = whole_end; j < w_.out; ++j) f(j);
  }

  int64_t whole_begin = 0, whole_end = 0;

 private:
  const PoolAxis& w_;
  const PoolParams& p_;
  std::vector<Span> spans_;
};

/// Call f(offset of a row of W elements) for each input row of row (o, i) of windows.
template <class F>
void for_rows(const PoolImages& s, const Span& d, const Span& h, const F& f) {
  for (int64_t k = d.begin; k < d.end; ++k) {
    for (int64_t r = h.begin; r < h.end; ++r) f((k * s.h.in + r) * s.w.in);
  }
}

/// y[j] = sum of x[j * stride + k] over k < kernel; backward: x[...] += y[j].
template <int64_t kStride, class T>
void sum_whole(int64_t n, T* y, const T* x, const PoolAxis& w) {
  const int64_t stride = kStride == 0 ? w.stride : kStride;
  std::fill_n(y, n, T(0));
  for (int64_t k = 0; k < w.kernel; ++k) {
#pragma omp simd
    for (int64_t j = 0; j < n; ++j) y[j] += x[j * stride + k];
  }
}
template <int64_t kStride, class T>
void spread_whole(int64_t n, const T* y, T* x, const PoolAxis& w) {
  const int64_t stride = kStride == 0 ? w.stride : kStride;
  for (int64_t k = 0; k < w.kernel; ++k) {
#pragma omp simd
    for (int64_t j = 0; j < n; ++j) x[j * stride + k] += y[j];
  }
}

/// y[j] = mean of window j of row x.
template <class T>
void means_of_row(const RowOfWindows& windows, const PoolAxis& w, int64_t rows, const T* x, T* y) {
  windows.for_others([&](int64_t j) {
    const Span& span = windows.span(j);
    y[j] = sum(span.size(), x + span.begin) / windows.divisor<T>(rows, j);
  });
  const int64_t first = windows.whole_begin, n = windows.whole_end - first;
  if (n == 0) return;
  const T* from = x + first * w.stride - w.padding;
  if (w.stride == 1) {
    sum_whole<1>(n, y + first, from, w);
  } else if (w.stride == 2) {
    sum_whole<2>(n, y + first, from, w);
  } else {
    sum_whole<0>(n, y + first, from, w);
  }
  divide(n, y + first, y + first, windows.divisor<T>(rows, first));
}

/// x = gradient of a row: window j adds dy[j] / divisor to its elements; buffer `share` [out].
template <class T>
void spread_of_row(const RowOfWindows& windows, const PoolAxis& w, int64_t rows, const T* dy,
                   T* share, T* x) {
  std::fill_n(x, w.in, T(0));
  windows.for_others([&](int64_t j) {
    const Span& span = windows.span(j);
    const T part = dy[j] / windows.divisor<T>(rows, j);
    for (int64_t k = span.begin; k < span.end; ++k) x[k] += part;
  });
  const int64_t first = windows.whole_begin, n = windows.whole_end - first;
  if (n == 0) return;
  divide(n, share, dy + first, windows.divisor<T>(rows, first));
  T* to = x + first * w.stride - w.padding;
  if (w.stride == 1) {
    spread_whole<1>(n, share, to, w);
  } else if (w.stride == 2) {
    spread_whole<2>(n, share, to, w);
  } else {
    spread_whole<0>(n, share, to, w);
  }
}

/// Compute the mean of each image.
template <class T>
void means_of_images(const PoolImages& s, T divisor, T* y, const T* x) {
  parallel_for(s.count(), s.grain(), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) y[i] = sum(s.in(), x + i * s.in()) / divisor;
  });
}

template <class T>
void means(Tensor& y, const Tensor& x, const PoolImages& s, const PoolParams& p) {
  T* py = y.data_ptr<T>();
  const T* px = x.data_ptr<T>();
  const RowOfWindows windows(s, p);
  const int64_t O = s.d.out, P = s.h.out;
  if (s.out() == 1) {
    const Span d(0, s.d), h(0, s.h);
    if (d.size() * h.size() * windows.span(0).size() == s.in()) {
      const int64_t rows = windows.count(d) * windows.count(h);
      return means_of_images(s, windows.divisor<T>(rows, 0), py, px);
    }
  }
  parallel_for(s.count() * O * P, s.row_grain(), [&](int64_t begin, int64_t end) {
    std::vector<T> sums(static_cast<size_t>(s.w.in));
    for (int64_t r = begin; r < end; ++r) {
      const T* image = px + r / (O * P) * s.in();
      const Span d(r / P % O, s.d), h(r % P, s.h);
      const int64_t rows = windows.count(d) * windows.count(h);
      const T* row = nullptr;
      int64_t covered = 0;
      for_rows(s, d, h, [&](int64_t at) {
        if (++covered == 1) {
          row = image + at;
        } else if (covered == 2) {
          const T* other = image + at;
#pragma omp simd
          for (int64_t k = 0; k < s.w.in; ++k) sums[static_cast<size_t>(k)] = row[k] + other[k];
          row = sums.data();
        } else {
          add(s.w.in, sums.data(), image + at);
        }
      });
      if (covered == 0) {
        std::fill(sums.begin(), sums.end(), T(0));
        row = sums.data();
      }
      means_of_row(windows, s.w, rows, row, py + r * s.w.out);
    }
  });
}

/// Compute the gradient of each image: that of a row of windows is added to all its input rows.
template <class T>
void spread(Tensor& dx, const Tensor& dy, const PoolImages& s, const PoolParams& p) {
  T* pdx = dx.data_ptr<T>();
  const T* pdy = dy.data_ptr<T>();
  const RowOfWindows windows(s, p);
  const int64_t O = s.d.out, P = s.h.out, Q = s.w.out;
  parallel_for(s.count(), s.grain(), [&](int64_t begin, int64_t end) {
    std::vector<T> line(static_cast<size_t>(s.w.in)), share(static_cast<size_t>(Q));
    for (int64_t image = begin; image < end; ++image) {
      T* to = pdx + image * s.in();
      std::fill_n(to, s.in(), T(0));
      for (int64_t r = 0; r < O * P; ++r) {
        const T* from = pdy + (image * O * P + r) * Q;
        const Span d(r / P, s.d), h(r % P, s.h);
        const int64_t rows = windows.count(d) * windows.count(h);
        spread_of_row(windows, s.w, rows, from, share.data(), line.data());
        for_rows(s, d, h, [&](int64_t at) { add(s.w.in, to + at, line.data()); });
      }
    }
  });
}

void avg_pool_any(Tensor& y, const Tensor& x, const PoolImages& s, const PoolParams& p) {
  visit<dtypes::kFloating>(y.dtype(), [&]<class T>() { means<T>(y, x, s, p); });
}
void avg_pool_grad_any(Tensor& dx, const Tensor& dy, const PoolImages& s, const PoolParams& p) {
  visit<dtypes::kFloating>(dx.dtype(), [&]<class T>() { spread<T>(dx, dy, s, p); });
}

/// Average channels-last pixels of C channels: y, dy [N,P,Q,C], x, dx [N,H,W,C].
void avg_pool_pixels(float* y, const float* x, const PoolImages& s, const PoolParams& p) {
  const RowOfWindows windows(s, p);
  for_images(s, [&](int64_t begin, int64_t end) {
    for_windows(s, begin, end, [&](int64_t n, int64_t window, Taps taps, const Span& h, int64_t j) {
      float* to = y + window * s.C;
      const float* image = x + n * s.in() * s.C;
      std::fill_n(to, s.C, 0.0f);
      for (const int32_t tap : taps) add(s.C, to, image + tap * s.C);
      divide(s.C, to, to, windows.divisor<float>(windows.count(h), j));
    });
  });
}
void avg_pool_grad_pixels(float* dx, const float* dy, const PoolImages& s, const PoolParams& p) {
  const RowOfWindows windows(s, p);
  const int64_t image = s.in() * s.C;
  const bool partition = windows_partition_input(s);
  for_images(s, [&](int64_t begin, int64_t end) {
    std::vector<float> share(static_cast<size_t>(s.C));
    if (!partition) std::fill(dx + begin * image, dx + end * image, 0.0f);
    for_windows(s, begin, end, [&](int64_t n, int64_t window, Taps taps, const Span& h, int64_t j) {
      divide(s.C, share.data(), dy + window * s.C, windows.divisor<float>(windows.count(h), j));
      for (const int32_t tap : taps) {
        float* to = dx + n * image + tap * s.C;
        if (partition) {
          std::copy_n(share.data(), s.C, to);
        } else {
          add(s.C, to, share.data());
        }
      }
    });
  });
}

}  // namespace
}  // namespace ambit::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ambit::cpu {

HWY_EXPORT(avg_pool_any);
HWY_EXPORT(avg_pool_grad_any);
HWY_EXPORT(avg_pool_pixels);
HWY_EXPORT(avg_pool_grad_pixels);

// y [N,C,out...], x [N,C,in...]
void avg_pool(Tensor& y, const Tensor& x, const PoolParams& p) {
  const PoolImages s(x, y, p);
  if (is_channels_last(x)) {
    const NativeScope native({.outputs = {&y}, .inputs = {&x}, .inputs_follow = true});
    if (native.has_native_outputs()) {
      return HWY_DYNAMIC_DISPATCH(avg_pool_pixels)(native.output(0).data_ptr<float>(),
                                                   native.input(0).data_ptr<float>(), s, p);
    }
  }
  HWY_DYNAMIC_DISPATCH(avg_pool_any)(y, x, s, p);
}

// dx [N,C,in...], dy [N,C,out...]
void avg_pool_grad(Tensor& dx, const Tensor& dy, const PoolParams& p) {
  const PoolImages s(dx, dy, p);
  if (is_channels_last(dy)) {
    const NativeScope native({.outputs = {&dx}, .inputs = {&dy}, .inputs_follow = true});
    if (native.has_native_outputs()) {
      return HWY_DYNAMIC_DISPATCH(avg_pool_grad_pixels)(native.output(0).data_ptr<float>(),
                                                        native.input(0).data_ptr<float>(), s, p);
    }
  }
  HWY_DYNAMIC_DISPATCH(avg_pool_grad_any)(dx, dy, s, p);
}

}  // namespace ambit::cpu
#endif
