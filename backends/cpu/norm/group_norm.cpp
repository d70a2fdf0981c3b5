// Group normalisation and its gradient: x [N,C,...], the groups of a sample are adjacent. A group
// that fits into the cache is read from memory once. Threads share whole groups, so that the order
// of a group's sums does not depend on their number. Channels-last images keep their layout: rows
// of channels are summed for one sample at a time, then the sums of channels are added per group.
#include "backends/cpu/runtime/simd_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/norm/group_norm.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <cmath>

#include "backends/cpu/kernels.h"
#include "backends/cpu/layout/channels_last.h"
#include "backends/cpu/layout/native_scope.h"
#include "backends/cpu/runtime/parallel.h"
#include "backends/cpu/runtime/scratch.h"
#include "norm_rows-inl.h"
#include "wide_moments.h"

HWY_BEFORE_NAMESPACE();
namespace ambit::cpu::HWY_NAMESPACE {
namespace {

/// x [N,C,inner]: N * G groups, each of `channels` runs of `inner` elements.
struct Groups {
  Groups(const Tensor& x, const Tensor& mean)
      : N(x.sizes()[0]), C(x.sizes()[1]), G(mean.sizes()[1]), channels(C / G), inner(1) {
    for (size_t d = 2; d < x.sizes().size(); ++d) inner *= x.sizes()[d];
    length = channels * inner;
  }
  /// Call f(group, its first element, its first channel) for all groups.
  template <class F>
  void for_groups(const F& f) const {
    parallel_for(N * G, grain_for(3 * length), [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) f(i, i * length, i % G * channels);
    });
  }
  /// Call f(sample, its first element) for all samples.
  template <class F>
  void for_samples(const F& f) const {
    parallel_for(N, grain_for(3 * G * length), [&](int64_t begin, int64_t end) {
      for (int64_t n = begin; n < end; ++n) f(n, n * G * length);
    });
  }
  int64_t N, C, G, channels, inner, length;
};

// y, x [N,C,...]; mean, invstd [N,G]; w, b [C] or undefined
template <class T>
void forward(const Tensor& y, Tensor& mean, Tensor& invstd, const Tensor& x, const Tensor& w,
             const Tensor& b, double eps) {
  const Groups s(x, mean);
  T *py = y.data_ptr<T>(), *pm = mean.data_ptr<T>(), *pi = invstd.data_ptr<T>();
  const T *px = x.data_ptr<T>(), *pw = data_or_null<T>(w), *pb = data_or_null<T>(b);
  const auto count = static_cast<double>(s.length);
  s.for_groups([&](int64_t i, int64_t at, int64_t channel) {
    const T* from = px + at;
    const T center = static_cast<T>(total_of(s.length, from) / count);
    const auto [rest, squares] = sums_about(center, s.length, from);
    Squares sums = corrected(static_cast<double>(center), rest, squares, count);
    double inverse = 1 / std::sqrt(sums.squares / count + eps);
    if (!keeps_squares<T>(squares, eps * count)) {
      const WideMoments wide = wide_moments(from, 1, 0, s.length, 1, eps);
      sums.mean = wide.mean;
      inverse = wide.inverse;
    }
    const T middle = pm[i] = static_cast<T>(sums.mean);
    pi[i] = static_cast<T>(inverse);
    // Rounding error of the mean in T; it may be large compared with x - mean.
    const double lost = (sums.mean - static_cast<double>(middle)) * inverse;
    for (int64_t c = 0; c < s.channels; ++c) {
      const double weight = pw ? static_cast<double>(pw[channel + c]) : 1;
      const double bias = pb ? static_cast<double>(pb[channel + c]) : 0;
      const T scale = static_cast<T>(inverse * weight);
      const T shift = static_cast<T>(std::isfinite(lost) ? bias - lost * weight : bias);
      const T* run = from + c * s.inner;
      T* to = py + at + c * s.inner;
#pragma omp simd
      for (int64_t j = 0; j < s.inner; ++j) to[j] = (run[j] - middle) * scale + shift;
    }
  });
}

// As above, for y, x [N,...,C].
template <class T>
void forward_rows(const Tensor& y, Tensor& mean, Tensor& invstd, const Tensor& x, const Tensor& w,
                  const Tensor& b, double eps) {
  const Groups s(x, mean);
  const int64_t C = s.C;
  T *py = y.data_ptr<T>(), *pm = mean.data_ptr<T>(), *pi = invstd.data_ptr<T>();
  const T *px = x.data_ptr<T>(), *pw = data_or_null<T>(w), *pb = data_or_null<T>(b);
  s.for_samples([&](int64_t n, int64_t at) {
    const RowBlocks rows(s.inner, C);
    const Scratch scratch(static_cast<size_t>(C) * (2 * sizeof(double) + 3 * sizeof(T)));
    double *means = scratch.data<double>(), *variances = means + C;
    T* center = reinterpret_cast<T*>(variances + C);
    T *scale = center + C, *shift = scale + C;
    row_statistics<T>(rows, C, px + at, means, variances);
    for (int64_t g = 0; g < s.G; ++g) {
      const int64_t first = g * s.channels, end = first + s.channels;
      double group_mean = 0, variance = 0;  // every channel has as many elements
      for (int64_t c = first; c < end; ++c) group_mean += means[c];
      group_mean /= static_cast<double>(s.channels);
      for (int64_t c = first; c < end; ++c) {
        const double off = means[c] - group_mean;
        variance += variances[c] + off * off;
      }
      double inverse = 1 / std::sqrt(variance / static_cast<double>(s.channels) + eps);
      const auto count = static_cast<double>(s.inner);
      if (!keeps_squares<T>(variance * count, eps * count)) {
        const WideMoments wide = wide_moments(px + at + first, s.inner, C, s.channels, 1, eps);
        group_mean = wide.mean;
        inverse = wide.inverse;
      }
      const T middle = pm[n * s.G + g] = static_cast<T>(group_mean);
      pi[n * s.G + g] = static_cast<T>(inverse);
      const double lost = (group_mean - static_cast<double>(middle)) * inverse;
      for (int64_t c = first; c < end; ++c) {
        const double weight = pw ? static_cast<double>(pw[c]) : 1;
        const double bias = pb ? static_cast<double>(pb[c]) : 0;
        center[c] = middle;
        scale[c] = static_cast<T>(inverse * weight);
        shift[c] = static_cast<T>(std::isfinite(lost) ? bias - lost * weight : bias);
      }
    }
    rows.for_rows([=](int64_t r) {
      const T* from = px + at + r * C;
      T* to = py + at + r * C;
#pragma omp simd
      for (int64_t c = 0; c < C; ++c) to[c] = (from[c] - center[c]) * scale[c] + shift[c];
    });
  });
}

/// dw, db [C], from the sums of dy and of dy * normalised x of each channel of each sample.
template <class T>
void add_samples(const Groups& s, const double* sums, const double* products, T* dw, T* db) {
  parallel_for(s.C, grain_for(2 * s.N), [&](int64_t begin, int64_t end) {
    for (int64_t c = begin; c < end; ++c) {
      double sum = 0, product = 0;
      for (int64_t n = 0; n < s.N; ++n) {
        sum += sums[n * s.C + c];
        product += products[n * s.C + c];
      }
      db[c] = static_cast<T>(sum);
      dw[c] = static_cast<T>(product);
    }
  });
}

// dx, dy, x [N,C,...]; dw, db, w [C], w maybe undefined; mean, invstd [N,G]
template <class T>
void backward(const Tensor& dx, Tensor& dw, Tensor& db, const Tensor& dy, const Tensor& x,
              const Tensor& w, const Tensor& mean, const Tensor& invstd) {
  const Groups s(x, mean);
  T *pdx = dx.data_ptr<T>(), *pdw = dw.data_ptr<T>(), *pdb = db.data_ptr<T>();
  const T *pdy = dy.data_ptr<T>(), *px = x.data_ptr<T>(), *pw = data_or_null<T>(w);
  const T *pm = mean.data_ptr<T>(), *pi = invstd.data_ptr<T>();
  // Sums of dy and of dy * (x - mean) * invstd for each channel of each sample.
  const Scratch scratch(static_cast<size_t>(2 * s.N * s.C) * sizeof(double));
  double *sums = scratch.data<double>(), *products = sums + s.N * s.C;
  s.for_groups([&](int64_t i, int64_t at, int64_t channel) {
    const T center = pm[i], inverse = pi[i];
    const int64_t first = i * s.channels;  // the group's channels in sums and products
    double sum_g = 0, sum_gu = 0;
    for (int64_t c = 0; c < s.channels; ++c) {
      const T *g = pdy + at + c * s.inner, *run = px + at + c * s.inner;
      const auto [sum, about] = gradient_sums<T>(s.inner, g, nullptr, run, center);
      const double product = about * static_cast<double>(inverse);
      const double weight = pw ? static_cast<double>(pw[channel + c]) : 1;
      sums[first + c] = sum;
      products[first + c] = product;
      sum_g += weight * sum;
      sum_gu += weight * product;
    }
    const auto count = static_cast<double>(s.length);
    const T less = static_cast<T>(sum_g / count);
    const T tilt = static_cast<T>(sum_gu / count * static_cast<double>(inverse));
    for (int64_t c = 0; c < s.channels; ++c) {
      const T weight = pw ? pw[channel + c] : T(1);
      const T *g = pdy + at + c * s.inner, *run = px + at + c * s.inner;
      T* to = pdx + at + c * s.inner;
#pragma omp simd
      for (int64_t j = 0; j < s.inner; ++j) {
        to[j] = inverse * (g[j] * weight - less - (run[j] - center) * tilt);
      }
    }
  });
  add_samples(s, sums, products, pdw, pdb);
}

// As above, for dx, dy, x [N,...,C].
template <class T>
void backward_rows(const Tensor& dx, Tensor& dw, Tensor& db, const Tensor& dy, const Tensor& x,
                   const Tensor& w, const Tensor& mean, const Tensor& invstd) {
  const Groups s(x, mean);
  const int64_t C = s.C;
  T* pdx = dx.data_ptr<T>();
  const T *pdy = dy.data_ptr<T>(), *px = x.data_ptr<T>(), *pw = data_or_null<T>(w);
  const T *pm = mean.data_ptr<T>(), *pi = invstd.data_ptr<T>();
  const Scratch scratch(static_cast<size_t>(2 * s.N * C) * sizeof(double));
  double *sums = scratch.data<double>(), *products = sums + s.N * C;
  s.for_samples([&](int64_t n, int64_t at) {
    const RowBlocks rows(s.inner, C);
    const Scratch per_channel(static_cast<size_t>(C) * 4 * sizeof(T));
    T *center = per_channel.data<T>(), *scale = center + C, *less = scale + C, *tilt = less + C;
    for (int64_t c = 0; c < C; ++c) center[c] = pm[n * s.G + c / s.channels];
    double *sum = sums + n * C, *product = products + n * C;
    row_grad_sums<T>(rows, C, pdy + at, px + at, center, sum, product);
    for (int64_t g = 0; g < s.G; ++g) {
      const int64_t first = g * s.channels, end = first + s.channels;
      const auto inverse = static_cast<double>(pi[n * s.G + g]);
      double sum_g = 0, sum_gu = 0;
      for (int64_t c = first; c < end; ++c) {
        product[c] *= inverse;
        const double weight = pw ? static_cast<double>(pw[c]) : 1;
        sum_g += weight * sum[c];
        sum_gu += weight * product[c];
      }
      const double share = inverse / static_cast<double>(s.length);
      for (int64_t c = first; c < end; ++c) {
        scale[c] = static_cast<T>(inverse * (pw ? static_cast<double>(pw[c]) : 1));
        less[c] = static_cast<T>(sum_g * share);
        tilt[c] = static_cast<T>(sum_gu * share * inverse);
      }
    }
    rows.for_rows([=](int64_t r) {
      const T *g = pdy + at + r * C, *from = px + at + r * C;
      T* to = pdx + at + r * C;
#pragma omp simd
      for (int64_t c = 0; c < C; ++c) {
        to[c] = g[c] * scale[c] - less[c] - (from[c] - center[c]) * tilt[c];
      }
    });
  });
  add_samples(s, sums, products, dw.data_ptr<T>(), db.data_ptr<T>());
}

void forward_any(const Tensor& y, Tensor& mean, Tensor& invstd, const Tensor& x, const Tensor& w,
                 const Tensor& b, double eps) {
  visit<dtypes::kFloating>(y.dtype(), [&]<class T>() {
    const auto run = has_channels_last_strides(x) ? forward_rows<T> : forward<T>;
    run(y, mean, invstd, x, w, b, eps);
  });
}

void backward_any(const Tensor& dx, Tensor& dw, Tensor& db, const Tensor& dy, const Tensor& x,
                  const Tensor& w, const Tensor& mean, const Tensor& invstd) {
  visit<dtypes::kFloating>(dx.dtype(), [&]<class T>() {
    const auto run = has_channels_last_strides(x) ? backward_rows<T> : backward<T>;
    run(dx, dw, db, dy, x, w, mean, invstd);
  });
}

}  // namespace
}  // namespace ambit::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ambit::cpu {

HWY_EXPORT(forward_any);
HWY_EXPORT(backward_any);

void group_norm(Tensor& y, Tensor& mean, Tensor& invstd, const Tensor& x, const Tensor& w,
                const Tensor& b, double eps) {
  const auto run = HWY_DYNAMIC_DISPATCH(forward_any);
  if (is_channels_last(x)) {
    const NativeScope native(
        {.outputs = {&y}, .row_major = {&mean, &invstd, &w, &b}, .inputs = {&x}});
    if (native.has_native_outputs()) {
      return run(native.output(0), mean, invstd, native.input(0), w, b, eps);
    }
  }
  run(y, mean, invstd, x, w, b, eps);
}

void group_norm_grad(Tensor& dx, Tensor& dw, Tensor& db, const Tensor& dy, const Tensor& x,
                     const Tensor& w, const Tensor& mean, const Tensor& invstd) {
  const auto run = HWY_DYNAMIC_DISPATCH(backward_any);
  if (is_channels_last(x)) {
    const NativeScope native({.outputs = {&dx},
                              .row_major = {&dw, &db, &w, &mean, &invstd},
                              .inputs = {&dy, &x},
                              .inputs_follow = true});
    if (native.has_native_outputs()) {
      return run(native.output(0), dw, db, native.input(0), native.input(1), w, mean, invstd);
    }
  }
  run(dx, dw, db, dy, x, w, mean, invstd);
}

}  // namespace ambit::cpu
#endif
