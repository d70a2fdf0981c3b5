// Resizing images in one to three spatial dims, and its gradient. To compute a row of y, its rows
// of x are combined first, then the columns of the result; the order is reversed if y has far fewer
// columns. In channels-last layout whole pixels are combined. The gradient uses the same code with
// transposed taps: for each element of x the elements of y that depend on it.
#include "backends/cpu/runtime/simd_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/images/interpolate.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>
#include <vector>

#include "backends/cpu/images/resizing.h"
#include "backends/cpu/kernels.h"
#include "backends/cpu/layout/channels_last.h"
#include "backends/cpu/layout/native_scope.h"
#include "backends/cpu/runtime/parallel.h"

HWY_BEFORE_NAMESPACE();
namespace ambit::cpu::HWY_NAMESPACE {
namespace {

/// y[i] = a * x[i] if `first`, else y[i] += a * x[i]. Iterations are independent.
template <class T>
void mix(int64_t n, T* y, const T* x, T a, bool first) {
  if (first) {
#pragma omp simd
    for (int64_t i = 0; i < n; ++i) y[i] = a * x[i];
  } else {
#pragma omp simd
    for (int64_t i = 0; i < n; ++i) y[i] += a * x[i];
  }
}

/// y[j] = weighted sum of the elements of x that `axis` lists; see Resizing::needs_zero for x.
template <class T>
void mix_columns(const Resizing& axis, const T* x, T* y) {
  const int64_t n = axis.to;
  const int32_t* at = axis.column_index.data();
  const T* w = axis.column_weights.of<T>();
  if (axis.width == 1) {
#pragma omp simd
    for (int64_t j = 0; j < n; ++j) y[j] = w[j] * x[at[j]];
  } else if (axis.width == 2) {
#pragma omp simd
    for (int64_t j = 0; j < n; ++j) y[j] = w[j] * x[at[j]] + w[n + j] * x[at[n + j]];
  } else if (axis.width == 4) {
#pragma omp simd
    for (int64_t j = 0; j < n; ++j) {
      y[j] = w[j] * x[at[j]] + w[n + j] * x[at[n + j]] + w[2 * n + j] * x[at[2 * n + j]] +
             w[3 * n + j] * x[at[3 * n + j]];
    }
  } else if (axis.width > 0) {
    std::fill_n(y, n, T(0));
    for (int64_t k = 0; k < axis.width; ++k) {
#pragma omp simd
      for (int64_t j = 0; j < n; ++j) y[j] += w[k * n + j] * x[at[k * n + j]];
    }
  } else {
    for (int64_t j = 0; j < n; ++j) {
      T sum = 0;
      for (int64_t k = 0; k < axis.count(j); ++k) sum += axis.weight<T>(j, k) * x[axis.at(j, k)];
      y[j] = sum;
    }
  }
}

/// Call f(row of the image, weight) for each input row of row (d, h).
template <class T, class F>
void for_rows(const Resizings& s, int64_t d, int64_t h, const F& f) {
  for (int64_t i = 0; i < s.d.count(d); ++i) {
    for (int64_t j = 0; j < s.h.count(h); ++j) {
      f(s.d.at(d, i) * s.h.from + s.h.at(h, j), s.d.weight<T>(d, i) * s.h.weight<T>(h, j));
    }
  }
}

/// Resize row-major images of type T from `from` to `to`.
template <class T>
void resize(const Resizings& s, const T* from, T* to) {
  const int64_t rows = s.d.to * s.h.to, W = s.w.from, Q = s.w.to;
  const bool columns_first = Q * 4 <= W;
  parallel_for(s.images * rows, grain_for(2 * (W + 2 * Q)), [&](int64_t begin, int64_t end) {
    std::vector<T> line(static_cast<size_t>(std::max(W, Q)) + 1),
        row_and_zero(static_cast<size_t>(W) + 1);
    const auto mix_row = [&](const T* row, T* mixed) {
      if (s.w.needs_zero) row = std::copy_n(row, W, row_and_zero.data()) - W;
      mix_columns(s.w, row, mixed);
    };
    for (int64_t r = begin; r < end; ++r) {
      const T* image = from + r / rows * s.d.from * s.h.from * W;
      T* y = to + r * Q;
      const int64_t d = r % rows / s.h.to, h = r % s.h.to;
      bool first = true;
      if (s.d.is_one(d) && s.h.is_one(h)) {  // copy a row
        mix_row(image + (s.d.at(d, 0) * s.h.from + s.h.at(h, 0)) * W, y);
        continue;
      }
      for_rows<T>(s, d, h, [&](int64_t row, T weight) {
        if (columns_first) {
          mix_row(image + row * W, line.data());
          mix(Q, y, line.data(), weight, first);
        } else {
          mix(W, line.data(), image + row * W, weight, first);
        }
        first = false;
      });
      if (first) {
        std::fill_n(y, Q, T(0));
      } else if (!columns_first) {
        line[static_cast<size_t>(W)] = 0;
        mix_columns(s.w, line.data(), y);
      }
    }
  });
}

/// Resize pixels of C channels: from [N,H,W,C], to [N,P,Q,C].
void resize_pixels(const Resizings& s, int64_t C, const float* from, float* to) {
  const int64_t rows = s.h.to, W = s.w.from, Q = s.w.to;
  parallel_for(s.images / C * rows, grain_for(4 * Q * C), [&](int64_t begin, int64_t end) {
    for (int64_t r = begin; r < end; ++r) {
      const float* image = from + r / rows * s.h.from * W * C;
      for (int64_t j = 0; j < Q; ++j) {
        float* y = to + (r * Q + j) * C;
        bool first = true;
        for_rows<float>(s, 0, r % rows, [&](int64_t row, float weight) {
          for (int64_t k = 0; k < s.w.count(j); ++k) {
            mix(C, y, image + (row * W + s.w.at(j, k)) * C, weight * s.w.weight<float>(j, k),
                first);
            first = false;
          }
        });
        if (first) std::fill_n(y, C, 0.0f);
      }
    }
  });
}

void resize_any(const Resizings& s, const Tensor& from, const Tensor& to) {
  visit<dtypes::kFloating>(to.dtype(),
                           [&]<class T>() { resize<T>(s, from.data_ptr<T>(), to.data_ptr<T>()); });
}

}  // namespace
}  // namespace ambit::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ambit::cpu {
namespace {

HWY_EXPORT(resize_any);
HWY_EXPORT(resize_pixels);

/// Resize, or compute the gradient: write `to` [N,C,...] from `from` [N,C,...], by the taps in s.
void run(const Resizings& s, Tensor& to, const Tensor& from) {
  if (is_channels_last(from)) {
    const NativeScope native({.outputs = {&to}, .inputs = {&from}, .inputs_follow = true});
    if (native.has_native_outputs()) {
      return HWY_DYNAMIC_DISPATCH(resize_pixels)(s, to.size(1), native.input(0).data_ptr<float>(),
                                                 native.output(0).data_ptr<float>());
    }
  }
  HWY_DYNAMIC_DISPATCH(resize_any)(s, from, to);
}

}  // namespace

// y [N,C,out...], x [N,C,in...]
void interpolate(Tensor& y, const Tensor& x, const InterpolateParams& p) {
  run(Resizings(x, y, p, false), y, x);
}

// dx [N,C,in...], dy [N,C,out...]
void interpolate_grad(Tensor& dx, const Tensor& dy, const InterpolateParams& p) {
  run(Resizings(dx, dy, p, true), dx, dy);
}

}  // namespace ambit::cpu
#endif
