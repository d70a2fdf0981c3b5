// Group normalisation and its gradient: x [N,C,...], the groups of a sample side by side. A group
// is read from memory once, where it fits into the cache, and summed in an order of its own: what
// threads share are whole groups.
#include "backends/cpu/runtime/simd_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/norm/group_norm.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <cmath>

#include "backends/cpu/kernels.h"
#include "backends/cpu/runtime/parallel.h"
#include "backends/cpu/runtime/scratch.h"
#include "norm_rows-inl.h"

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
  int64_t N, C, G, channels, inner, length;
};

// y, x [N,C,...]; mean, invstd [N,G]; w, b [C] or undefined
template <class T>
void forward(Tensor& y, Tensor& mean, Tensor& invstd, const Tensor& x, const Tensor& w,
             const Tensor& b, double eps) {
  const Groups s(x, mean);
  T *py = y.data_ptr<T>(), *pm = mean.data_ptr<T>(), *pi = invstd.data_ptr<T>();
  const T *px = x.data_ptr<T>(), *pw = data_or_null<T>(w), *pb = data_or_null<T>(b);
  const auto count = static_cast<double>(s.length);
  s.for_groups([&](int64_t i, int64_t at, int64_t channel) {
    const T* from = px + at;
    const T center = static_cast<T>(total_of(s.length, from) / count);
    const auto [rest, squares] = sums_about(center, s.length, from);
    const Squares sums = corrected(static_cast<double>(center), rest, squares, count);
    const double inverse = 1 / std::sqrt(sums.squares / count + eps);
    const T middle = pm[i] = static_cast<T>(sums.mean);
    pi[i] = static_cast<T>(inverse);
    // What the mean loses as a T, which may be much beside x - mean.
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

// dx, dy, x [N,C,...]; dw, db, w [C], w maybe undefined; mean, invstd [N,G]
template <class T>
void backward(Tensor& dx, Tensor& dw, Tensor& db, const Tensor& dy, const Tensor& x,
              const Tensor& w, const Tensor& mean, const Tensor& invstd) {
  const Groups s(x, mean);
  T *pdx = dx.data_ptr<T>(), *pdw = dw.data_ptr<T>(), *pdb = db.data_ptr<T>();
  const T *pdy = dy.data_ptr<T>(), *px = x.data_ptr<T>(), *pw = data_or_null<T>(w);
  const T *pm = mean.data_ptr<T>(), *pi = invstd.data_ptr<T>();
  // Of each channel of each sample the sums of dy and of dy * (x - mean) * invstd.
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
  parallel_for(s.C, grain_for(2 * s.N), [&](int64_t begin, int64_t end) {
    for (int64_t c = begin; c < end; ++c) {
      double sum = 0, product = 0;
      for (int64_t n = 0; n < s.N; ++n) {
        sum += sums[n * s.C + c];
        product += products[n * s.C + c];
      }
      pdb[c] = static_cast<T>(sum);
      pdw[c] = static_cast<T>(product);
    }
  });
}

void forward_any(Tensor& y, Tensor& mean, Tensor& invstd, const Tensor& x, const Tensor& w,
                 const Tensor& b, double eps) {
  visit<dtypes::kFloating>(y.dtype(),
                           [&]<class T>() { forward<T>(y, mean, invstd, x, w, b, eps); });
}

void backward_any(Tensor& dx, Tensor& dw, Tensor& db, const Tensor& dy, const Tensor& x,
                  const Tensor& w, const Tensor& mean, const Tensor& invstd) {
  visit<dtypes::kFloating>(dx.dtype(),
                           [&]<class T>() { backward<T>(dx, dw, db, dy, x, w, mean, invstd); });
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
  HWY_DYNAMIC_DISPATCH(forward_any)(y, mean, invstd, x, w, b, eps);
}

void group_norm_grad(Tensor& dx, Tensor& dw, Tensor& db, const Tensor& dy, const Tensor& x,
                     const Tensor& w, const Tensor& mean, const Tensor& invstd) {
  HWY_DYNAMIC_DISPATCH(backward_any)(dx, dw, db, dy, x, w, mean, invstd);
}

}  // namespace ambit::cpu
#endif
