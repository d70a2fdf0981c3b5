// Batch normalisation and its gradient: one channel at a time, or rows of channels if they are
// innermost; bfloat16 is read only in the second layout. Our own kernels are used for all dtypes:
// oneDNN 2.6 has no float64, and its float32 kernel is three times slower in the other layout.
#include "backends/cpu/runtime/simd_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/norm/batch_norm.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>
#include <cmath>
#include <concepts>
#include <utility>

#include "backends/cpu/elementwise/half_loops.h"
#include "backends/cpu/kernels.h"
#include "backends/cpu/layout/channels_last.h"
#include "backends/cpu/layout/native_scope.h"
#include "backends/cpu/layout/upcast.h"
#include "backends/cpu/runtime/parallel.h"
#include "backends/cpu/runtime/scratch.h"
#include "norm_rows-inl.h"
#include "wide_moments.h"

HWY_BEFORE_NAMESPACE();
namespace ambit::cpu::HWY_NAMESPACE {
namespace {

/// x [N,C,inner]: channel c is N runs of `inner` elements.
struct Channels {
  explicit Channels(const Tensor& x) : N(x.sizes()[0]), C(x.sizes()[1]), inner(1) {
    for (size_t d = 2; d < x.sizes().size(); ++d) inner *= x.sizes()[d];
    if (has_channels_last_strides(x)) N *= std::exchange(inner, 1);
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

inline WideMoments with_inverse(double mean, double variance, double eps) {
  return {mean, variance, 1 / std::sqrt(variance + eps)};
}

/// Return the statistics of channel c.
template <class T>
WideMoments statistics(const Channels& s, int64_t c, const T* x, double eps) {
  const auto count = static_cast<double>(s.per_channel());
  double sum = 0, squares = 0;
  s.for_runs(c, [&](int64_t at) {
    const T* px = x + at;
    sum += sum_of<T>(s.inner, [px](int64_t i) { return px[i]; });
  });
  const T center = static_cast<T>(sum / count);
  double rest = 0;
  s.for_runs(c, [&](int64_t at) {
    const auto [part, part_squares] = sums_about(center, s.inner, x + at);
    rest += part;
    squares += part_squares;
  });
  const Squares result = corrected(static_cast<double>(center), rest, squares, count);
  if (!keeps_squares<T>(squares, eps * count)) {
    return wide_moments(x + c * s.inner, s.N, s.C * s.inner, s.inner, 1, eps);
  }
  return with_inverse(result.mean, result.squares / count, eps);
}

/// Return the sums of dy and of dy * (x - center) over channel c.
template <class T>
std::pair<double, double> grad_sums(const Channels& s, int64_t c, const T* dy, const T* x,
                                    T center) {
  double sum = 0, product = 0;
  s.for_runs(c, [&](int64_t at) {
    const T *pdy = dy + at, *px = x + at;
    sum += sum_of<T>(s.inner, [pdy](int64_t i) { return pdy[i]; });
    product += sum_of<T>(s.inner, [=](int64_t i) { return pdy[i] * (px[i] - center); });
  });
  return {sum, product};
}

/// The type in which elements of X are computed.
template <class X>
using Wide = std::conditional_t<std::same_as<X, BFloat16>, float, X>;

/// y[c] = f(c), rounded once.
template <class X, class F>
HWY_INLINE void write_row(int64_t C, X* y, UnaryLoop downcast, const F& f) {
  if constexpr (std::same_as<X, Wide<X>>) {
#pragma omp simd
    for (int64_t c = 0; c < C; ++c) y[c] = f(c);
  } else {
    constexpr int64_t kPiece = 512;
    alignas(64) float wide[kPiece];
    for (int64_t begin = 0; begin < C; begin += kPiece) {
      const int64_t n = std::min(kPiece, C - begin);
#pragma omp simd
      for (int64_t c = 0; c < n; ++c) wide[c] = f(begin + c);
      downcast(n, y + begin, wide);
    }
  }
}

/// running += momentum * (now - running)
template <class T>
void update_running(T* running, int64_t c, double now, double momentum) {
  if (!running) return;
  const auto before = static_cast<double>(running[c]);
  running[c] = static_cast<T>((1 - momentum) * before + momentum * now);
}

template <class X>
void forward(const Tensor& y, Tensor& mean, Tensor& invstd, Tensor& running_mean,
             Tensor& running_var, const Tensor& x, const Tensor& w, const Tensor& b,
             const BatchNormParams& p) {
  using T = Wide<X>;
  const Channels s(x);
  X* py = y.data_ptr<X>();
  const X* px = x.data_ptr<X>();
  T *pm = mean.data_ptr<T>(), *pi = invstd.data_ptr<T>();
  T *prm = data_or_null<T>(running_mean), *prv = data_or_null<T>(running_var);
  const T *pw = data_or_null<T>(w), *pb = data_or_null<T>(b);
  const auto count = static_cast<double>(s.per_channel());
  const Scratch scratch(static_cast<size_t>(s.C) * (2 * sizeof(double) + 2 * sizeof(T)));
  double *means = scratch.data<double>(), *variances = means + s.C;
  T *scale = reinterpret_cast<T*>(variances + s.C), *shift = scale + s.C;

  // Compute scale and shift of channel c: y = (x - mean) * scale + shift.
  const auto prepare = [&](int64_t c, const WideMoments& channel) __attribute__((noinline)) {
    const double m = channel.mean, inverse = channel.inverse;
    if (p.training) {
      update_running(prm, c, m, p.momentum);
      update_running(prv, c, channel.variance * count / (count - 1), p.momentum);
    }
    pm[c] = static_cast<T>(m);
    pi[c] = static_cast<T>(inverse);
    scale[c] = static_cast<T>(inverse * (pw ? static_cast<double>(pw[c]) : 1));
    // Rounding error of the mean in T; it may be large compared with x - mean.
    const double lost = m - static_cast<double>(pm[c]);
    const double offset =
        (pb ? static_cast<double>(pb[c]) : 0) - lost * static_cast<double>(scale[c]);
    shift[c] = static_cast<T>(std::isfinite(lost) ? offset : (pb ? pb[c] : 0));
  };
  if (!p.training) {
    for (int64_t c = 0; c < s.C; ++c) {
      prepare(c, with_inverse(static_cast<double>(prm[c]), static_cast<double>(prv[c]), p.eps));
    }
  }
  if (s.inner == 1) {
    const RowBlocks rows(s.N, s.C);
    if (p.training) {
      row_statistics<T>(rows, s.C, px, means, variances);
      for (int64_t c = 0; c < s.C; ++c) {
        const bool keeps = keeps_squares<T>(variances[c] * count, p.eps * count);
        prepare(c, keeps ? with_inverse(means[c], variances[c], p.eps)
                         : wide_moments(px + c, 1, 0, s.N, s.C, p.eps));
      }
    }
    const UnaryLoop downcast = downcast_loop(kBFloat16);
    return rows.for_rows([&, C = s.C](int64_t r) {
      const X* from = px + r * C;
      write_row(C, py + r * C, downcast,
                [&](int64_t c) { return (static_cast<T>(from[c]) - pm[c]) * scale[c] + shift[c]; });
    });
  }
  if constexpr (std::same_as<X, T>) {
    s.for_channels([&](int64_t c) {
      if (p.training) {
        prepare(c, statistics(s, c, px, p.eps));
      }
      const T center = pm[c], factor = scale[c], offset = shift[c];
      s.for_runs(c, [&](int64_t at) {
#pragma omp simd
        for (int64_t i = at; i < at + s.inner; ++i) py[i] = (px[i] - center) * factor + offset;
      });
    });
  }
}

template <class X>
void backward(const Tensor& dx, Tensor& dw, Tensor& db, const Tensor& dy, const Tensor& x,
              const Tensor& w, const Tensor& mean, const Tensor& invstd, const BatchNormParams& p) {
  using T = Wide<X>;
  const Channels s(x);
  X* pdx = dx.data_ptr<X>();
  T *pdw = dw.data_ptr<T>(), *pdb = db.data_ptr<T>();
  const X *pdy = dy.data_ptr<X>(), *px = x.data_ptr<X>();
  const T* pw = data_or_null<T>(w);
  const T *pm = mean.data_ptr<T>(), *pi = invstd.data_ptr<T>();
  const auto count = static_cast<double>(s.per_channel());
  const Scratch scratch(static_cast<size_t>(s.C) * (2 * sizeof(double) + 3 * sizeof(T)));
  double *sums = scratch.data<double>(), *products = sums + s.C;
  T* scale = reinterpret_cast<T*>(products + s.C);
  T *offset = scale + s.C, *slope = offset + s.C;

  // Compute the coefficients of channel c from its sums of dy and of dy * (x - mean):
  // dx = scale * (dy - mean(dy) - normalised x * mean(dy * normalised x)).
  const auto prepare = [&](int64_t c, double sum, double product) {
    const auto inverse = static_cast<double>(pi[c]);
    product *= inverse;
    pdw[c] = static_cast<T>(product);
    pdb[c] = static_cast<T>(sum);
    scale[c] = pw ? pi[c] * pw[c] : pi[c];
    offset[c] = p.training ? static_cast<T>(sum / count) : T(0);
    slope[c] = p.training ? static_cast<T>(product / count * inverse) : T(0);
  };
  if (s.inner == 1) {
    const RowBlocks rows(s.N, s.C);
    row_grad_sums<T>(rows, s.C, pdy, px, pm, sums, products);
    for (int64_t c = 0; c < s.C; ++c) prepare(c, sums[c], products[c]);
    const UnaryLoop downcast = downcast_loop(kBFloat16);
    return rows.for_rows([&, C = s.C](int64_t r) {
      const X *g = pdy + r * C, *from = px + r * C;
      write_row(C, pdx + r * C, downcast, [&](int64_t c) {
        const T tilted = (static_cast<T>(from[c]) - pm[c]) * slope[c];
        return scale[c] * (static_cast<T>(g[c]) - offset[c] - tilted);
      });
    });
  }
  if constexpr (std::same_as<X, T>) {
    s.for_channels([&](int64_t c) {
      const T center = pm[c];
      const auto [sum, product] = grad_sums(s, c, pdy, px, center);
      prepare(c, sum, product);
      const T factor = scale[c], less = offset[c], tilt = slope[c];
      s.for_runs(c, [&](int64_t at) {
#pragma omp simd
        for (int64_t i = at; i < at + s.inner; ++i) {
          pdx[i] = factor * (pdy[i] - less - (px[i] - center) * tilt);
        }
      });
    });
  }
}

constexpr DTypeSet kElements = dtypes::kFloating | DTypeSet{kBFloat16};

void forward_any(const Tensor& y, Tensor& mean, Tensor& invstd, Tensor& running_mean,
                 Tensor& running_var, const Tensor& x, const Tensor& w, const Tensor& b,
                 const BatchNormParams& p) {
  visit<kElements>(y.dtype(), [&]<class X>() {
    forward<X>(y, mean, invstd, running_mean, running_var, x, w, b, p);
  });
}

void backward_any(const Tensor& dx, Tensor& dw, Tensor& db, const Tensor& dy, const Tensor& x,
                  const Tensor& w, const Tensor& mean, const Tensor& invstd,
                  const BatchNormParams& p) {
  visit<kElements>(dx.dtype(),
                   [&]<class X>() { backward<X>(dx, dw, db, dy, x, w, mean, invstd, p); });
}

}  // namespace
}  // namespace ambit::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ambit::cpu {
namespace {

HWY_EXPORT(forward_any);
HWY_EXPORT(backward_any);

bool are_float32(std::initializer_list<const Tensor*> list) {
  return std::ranges::all_of(
      list, [](const Tensor* t) { return !t->defined() || t->dtype() == kFloat32; });
}

}  // namespace

// The result keeps the channels-last layout of x. Channels-last bfloat16 images and bfloat16 [N,C]
// with statistics and weights of float32 are read as they are; other bfloat16 operands are
// converted to float32.
void batch_norm(Tensor& y, Tensor& mean, Tensor& invstd, Tensor& running_mean, Tensor& running_var,
                const Tensor& x, const Tensor& w, const Tensor& b, const BatchNormParams& p) {
  const auto run = HWY_DYNAMIC_DISPATCH(forward_any);
  const bool is_16_bit = is_reduced_floating(x.dtype());
  const bool is_supported = !is_16_bit || are_float32({&mean, &invstd, &w, &b});
  if (is_supported && is_channels_last(x)) {
    const NativeScope native({.outputs = {&y},
                              .row_major = {&mean, &invstd, &running_mean, &running_var, &w, &b},
                              .inputs = {&x}});
    if (native.has_native_outputs()) {
      return run(native.output(0), mean, invstd, running_mean, running_var, native.input(0), w, b,
                 p);
    }
  }
  if (!is_16_bit || (is_supported && x.dim() == 2)) {
    return run(y, mean, invstd, running_mean, running_var, x, w, b, p);
  }
  run_upcast(kernels::batch_norm, batch_norm, y, mean, invstd, running_mean, running_var, x, w, b,
             p);
}

void batch_norm_grad(Tensor& dx, Tensor& dw, Tensor& db, const Tensor& dy, const Tensor& x,
                     const Tensor& w, const Tensor& mean, const Tensor& invstd,
                     const BatchNormParams& p) {
  const auto run = HWY_DYNAMIC_DISPATCH(backward_any);
  const bool is_16_bit = is_reduced_floating(x.dtype());
  const bool is_supported = !is_16_bit || are_float32({&dw, &db, &w, &mean, &invstd});
  if (is_supported && is_channels_last(x)) {
    const NativeScope native({.outputs = {&dx},
                              .row_major = {&dw, &db, &w, &mean, &invstd},
                              .inputs = {&dy, &x},
                              .inputs_follow = true});
    if (native.has_native_outputs()) {
      return run(native.output(0), dw, db, native.input(0), native.input(1), w, mean, invstd, p);
    }
  }
  if (!is_16_bit || (is_supported && x.dim() == 2))
    return run(dx, dw, db, dy, x, w, mean, invstd, p);
  run_upcast(kernels::batch_norm_grad, batch_norm_grad, dx, dw, db, dy, x, w, mean, invstd, p);
}

}  // namespace ambit::cpu
#endif
