// Batch normalisation and its gradient, one channel at a time; sums in double. Written out for both
// dtypes: oneDNN 2.6 has no float64, and in this layout its float32 is three times slower.
#include "simd_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "norm.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <cmath>

#include "kernels.h"
#include "parallel.h"

HWY_BEFORE_NAMESPACE();
namespace ambit::cpu::HWY_NAMESPACE {
namespace {

/// x [N,C,inner]: channel c is N runs of `inner` elements.
struct Channels {
  explicit Channels(const Tensor& x) : N(x.sizes()[0]), C(x.sizes()[1]), inner(1) {
    for (size_t d = 2; d < x.sizes().size(); ++d) inner *= x.sizes()[d];
  }
  int64_t per_channel() const { return N * inner; }
  /// Call f(offset) with the start of each run of channel c.
  template <class F>
  void for_runs(int64_t c, const F& f) const {
    for (int64_t n = 0; n < N; ++n) f((n * C + c) * inner);
  }
  template <class F>
  void for_channels(const F& f) const {
    parallel_for(C, grain_for(3 * per_channel()), [&](int64_t begin, int64_t end) {
      for (int64_t c = begin; c < end; ++c) f(c);
    });
  }
  int64_t N, C, inner;
};

template <class T>
T* data_or_null(const Tensor& t) {
  return t.defined() ? t.data_ptr<T>() : nullptr;
}

template <class T>
double mean_of(const Channels& s, int64_t c, const T* x) {
  double sum = 0;
  s.for_runs(c, [&](int64_t at) {
#pragma omp simd reduction(+ : sum)
    for (int64_t i = at; i < at + s.inner; ++i) sum += static_cast<double>(x[i]);
  });
  return sum / static_cast<double>(s.per_channel());
}

template <class T>
double variance_of(const Channels& s, int64_t c, const T* x, double mean) {
  double sum = 0;
  s.for_runs(c, [&](int64_t at) {
#pragma omp simd reduction(+ : sum)
    for (int64_t i = at; i < at + s.inner; ++i) {
      const double d = static_cast<double>(x[i]) - mean;
      sum += d * d;
    }
  });
  return sum / static_cast<double>(s.per_channel());
}

/// running += momentum * (now - running)
template <class T>
void follow(T* running, int64_t c, double now, double momentum) {
  if (!running) return;
  const auto before = static_cast<double>(running[c]);
  running[c] = static_cast<T>((1 - momentum) * before + momentum * now);
}

template <class T>
void forward(Tensor& y, Tensor& mean, Tensor& invstd, Tensor& running_mean, Tensor& running_var,
             const Tensor& x, const Tensor& w, const Tensor& b, const BatchNormParams& p) {
  const Channels s(x);
  T *py = y.data_ptr<T>(), *pm = mean.data_ptr<T>(), *pi = invstd.data_ptr<T>();
  T *prm = data_or_null<T>(running_mean), *prv = data_or_null<T>(running_var);
  const T *px = x.data_ptr<T>(), *pw = data_or_null<T>(w), *pb = data_or_null<T>(b);
  const auto count = static_cast<double>(s.per_channel());
  s.for_channels([&](int64_t c) {
    double m, v;
    if (p.training) {
      m = mean_of(s, c, px);
      v = variance_of(s, c, px, m);
      follow(prm, c, m, p.momentum);
      follow(prv, c, v * count / (count - 1), p.momentum);
    } else {
      m = static_cast<double>(prm[c]);
      v = static_cast<double>(prv[c]);
    }
    const double inverse = 1 / std::sqrt(v + p.eps);
    pm[c] = static_cast<T>(m);
    pi[c] = static_cast<T>(inverse);
    const T center = pm[c], shift = pb ? pb[c] : T(0);
    const T scale = static_cast<T>(inverse * (pw ? static_cast<double>(pw[c]) : 1));
    s.for_runs(c, [&](int64_t at) {
#pragma omp simd
      for (int64_t i = at; i < at + s.inner; ++i) py[i] = (px[i] - center) * scale + shift;
    });
  });
}

template <class T>
void backward(Tensor& dx, Tensor& dw, Tensor& db, const Tensor& dy, const Tensor& x,
              const Tensor& w, const Tensor& mean, const Tensor& invstd, const BatchNormParams& p) {
  const Channels s(x);
  T *pdx = dx.data_ptr<T>(), *pdw = dw.data_ptr<T>(), *pdb = db.data_ptr<T>();
  const T *pdy = dy.data_ptr<T>(), *px = x.data_ptr<T>(), *pw = data_or_null<T>(w);
  const T *pm = mean.data_ptr<T>(), *pi = invstd.data_ptr<T>();
  const auto count = static_cast<double>(s.per_channel());
  s.for_channels([&](int64_t c) {
    const T center = pm[c], inverse = pi[c];
    double sum = 0, product = 0;  // of dy, and of dy * (x - mean)
    s.for_runs(c, [&](int64_t at) {
#pragma omp simd reduction(+ : sum, product)
      for (int64_t i = at; i < at + s.inner; ++i) {
        const auto g = static_cast<double>(pdy[i]);
        sum += g;
        product += g * static_cast<double>(px[i] - center);
      }
    });
    product *= static_cast<double>(inverse);
    pdw[c] = static_cast<T>(product);
    pdb[c] = static_cast<T>(sum);
    const T scale = pw ? inverse * pw[c] : inverse;
    // dx = scale * (dy - mean(dy) - normalised x * mean(dy * normalised x))
    const T offset = p.training ? static_cast<T>(sum / count) : T(0);
    const T slope =
        p.training ? static_cast<T>(product / count * static_cast<double>(inverse)) : T(0);
    s.for_runs(c, [&](int64_t at) {
#pragma omp simd
      for (int64_t i = at; i < at + s.inner; ++i) {
        pdx[i] = scale * (pdy[i] - offset - (px[i] - center) * slope);
      }
    });
  });
}

void forward_any(Tensor& y, Tensor& mean, Tensor& invstd, Tensor& running_mean, Tensor& running_var,
                 const Tensor& x, const Tensor& w, const Tensor& b, const BatchNormParams& p) {
  const auto run = y.dtype() == kFloat32 ? forward<float> : forward<double>;
  run(y, mean, invstd, running_mean, running_var, x, w, b, p);
}

void backward_any(Tensor& dx, Tensor& dw, Tensor& db, const Tensor& dy, const Tensor& x,
                  const Tensor& w, const Tensor& mean, const Tensor& invstd,
                  const BatchNormParams& p) {
  const auto run = dx.dtype() == kFloat32 ? backward<float> : backward<double>;
  run(dx, dw, db, dy, x, w, mean, invstd, p);
}

}  // namespace
}  // namespace ambit::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ambit::cpu {

HWY_EXPORT(forward_any);
HWY_EXPORT(backward_any);

void batch_norm(Tensor& y, Tensor& mean, Tensor& invstd, Tensor& running_mean, Tensor& running_var,
                const Tensor& x, const Tensor& w, const Tensor& b, const BatchNormParams& p) {
  HWY_DYNAMIC_DISPATCH(forward_any)(y, mean, invstd, running_mean, running_var, x, w, b, p);
}

void batch_norm_grad(Tensor& dx, Tensor& dw, Tensor& db, const Tensor& dy, const Tensor& x,
                     const Tensor& w, const Tensor& mean, const Tensor& invstd,
                     const BatchNormParams& p) {
  HWY_DYNAMIC_DISPATCH(backward_any)(dx, dw, db, dy, x, w, mean, invstd, p);
}

}  // namespace ambit::cpu
#endif
