// 2-D average pooling and the gradients of both kinds, one plane [H,W] of x and [P,Q] of y at a
// time. Written out for both dtypes: oneDNN's average is no faster in this layout.
#include <ambit/error.h>
#include <fmt/format.h>

#include <algorithm>

#include "backends/cpu/kernels.h"
#include "backends/cpu/layout/channels_last.h"
#include "backends/cpu/layout/native_scope.h"
#include "pool_channels_last.h"
#include "pool_windows.h"

namespace ambit::cpu {
namespace {

/// What an average divides by; 1 for a window on padding alone, whose average is 0.
template <class T>
T divisor(const Span& h, const Span& w, const PoolParams& p) {
  const int64_t n =
      p.count_include_pad ? h.extent * w.extent : (h.end - h.begin) * (w.end - w.begin);
  return static_cast<T>(std::max<int64_t>(n, 1));
}

template <class T>
T sum_window(const T* x, int64_t W, const Span& h, const Span& w) {
  T sum = 0;
  for (int64_t i = h.begin; i < h.end; ++i) {
    for (int64_t j = w.begin; j < w.end; ++j) sum += x[i * W + j];
  }
  return sum;
}

/// Call f(plane, position in y's plane, h, w) for every window.
template <class F>
void for_windows(const Planes& s, const PoolParams& p, const F& f) {
  parallel_for(s.count(), s.grain(p), [&](int64_t begin, int64_t end) {
    for (int64_t plane = begin; plane < end; ++plane) {
      for (int64_t i = 0; i < s.P; ++i) {
        const Span h(i, s.H, p, 0);
        for (int64_t j = 0; j < s.Q; ++j) f(plane, i * s.Q + j, h, Span(j, s.W, p, 1));
      }
    }
  });
}

/// Before anything is written, and in whatever order they lie.
void check_positions(int64_t n, const int32_t* index, int64_t bound) {
  parallel_for(n, kGrain, [&](int64_t begin, int64_t end) {
    bool outside = false;
    for (int64_t i = begin; i < end; ++i) outside |= index[i] < 0 || index[i] >= bound;
    for (int64_t i = begin; outside && i < end; ++i) {
      if (index[i] >= 0 && index[i] < bound) continue;
      throw IndexError(
          fmt::format("max_pool_grad: expected an index in [0, {}), got {}", bound, index[i]));
    }
  });
}

}  // namespace

// dx [N,C,H,W], dy, index [N,C,P,Q]
void max_pool_grad(Tensor& dx, const Tensor& dy, const Tensor& index, const PoolParams& p) {
  const Planes s(dx, dy);
  const int64_t in = s.H * s.W, out = s.P * s.Q;
  if (dx.dtype() == kFloat32 && is_channels_last(index) && suits_channels_last(p)) {
    const NativeScope native({.outputs = {&dx}, .inputs = {&dy, &index}, .inputs_follow = true});
    if (native.has_native_outputs()) {
      const int32_t* positions = native.input(1).data_ptr<int32_t>();
      check_positions(index.numel(), positions, in);
      return max_pool_grad_channels_last(s, native.output(0).data_ptr<float>(),
                                           native.input(0).data_ptr<float>(), positions, p);
    }
  }
  const int32_t* pi = index.data_ptr<int32_t>();
  check_positions(index.numel(), pi, in);
  visit<dtypes::kFloating>(dx.dtype(), [&]<class T>() {
    T* pdx = dx.data_ptr<T>();
    const T* pdy = dy.data_ptr<T>();
    parallel_for(s.count(), s.grain(p), [&](int64_t begin, int64_t end) {
      for (int64_t plane = begin; plane < end; ++plane) {
        T* to = pdx + plane * in;
        std::fill_n(to, in, T(0));
        for (int64_t i = plane * out; i < (plane + 1) * out; ++i) to[pi[i]] += pdy[i];
      }
    });
  });
}

// y [N,C,P,Q], x [N,C,H,W]
void avg_pool(Tensor& y, const Tensor& x, const PoolParams& p) {
  const Planes s(x, y);
  visit<dtypes::kFloating>(y.dtype(), [&]<class T>() {
    T* py = y.data_ptr<T>();
    const T* px = x.data_ptr<T>();
    for_windows(s, p, [&](int64_t plane, int64_t i, const Span& h, const Span& w) {
      py[plane * s.P * s.Q + i] =
          sum_window(px + plane * s.H * s.W, s.W, h, w) / divisor<T>(h, w, p);
    });
  });
}

// dx [N,C,H,W], dy [N,C,P,Q]
void avg_pool_grad(Tensor& dx, const Tensor& dy, const PoolParams& p) {
  const Planes s(dx, dy);
  fill(dx, 0);
  visit<dtypes::kFloating>(dx.dtype(), [&]<class T>() {
    T* pdx = dx.data_ptr<T>();
    const T* pdy = dy.data_ptr<T>();
    for_windows(s, p, [&](int64_t plane, int64_t i, const Span& h, const Span& w) {
      const T share = pdy[plane * s.P * s.Q + i] / divisor<T>(h, w, p);
      T* to = pdx + plane * s.H * s.W;
      for (int64_t r = h.begin; r < h.end; ++r) {
        for (int64_t c = w.begin; c < w.end; ++c) to[r * s.W + c] += share;
      }
    });
  });
}

}  // namespace ambit::cpu
