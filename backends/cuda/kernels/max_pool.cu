// Maximum pooling in one to three spatial dims and its gradient: cuDNN does not return the
// positions of the maxima. All operands are contiguous.
#include <ambit/backend/alias.h>
#include <ambit/ops/creation.h>
#include <ambit/settings.h>

#include <algorithm>
#include <cmath>
#include <concepts>

#include "backends/cuda/kernels.h"
#include "backends/cuda/loops/element16.cuh"
#include "backends/cuda/loops/pool_window.h"
#include "backends/cuda/runtime/launch.h"

namespace ambit::cuda {
namespace {

/// Use 32-bit divisions for tensors with less than 2^31 elements.
template <class F>
void visit_index(int64_t numel, const F& f) {
  if (numel <= INT32_MAX) {
    f.template operator()<int32_t>();
  } else {
    f.template operator()<int64_t>();
  }
}

// y, index [images,out...] or null, x [images,in...]; each thread computes one element of y.
template <class T, class I>
__global__ void max_windows(I n, PoolAxes axes, T* y, int32_t* index, const T* x) {
  for (int64_t at = thread_index(); at < n; at += thread_count()) {
    const auto O = static_cast<I>(axes.d.output), P = static_cast<I>(axes.h.output),
               Q = static_cast<I>(axes.w.output);
    const I line = static_cast<I>(at) / Q, plane = line / P, first = plane / O;
    const T* image = x + int64_t{first} * axes.input();
    const PoolAxis::Range d = axes.d.window(plane - first * O);
    const PoolAxis::Range h = axes.h.window(line - plane * P);
    const PoolAxis::Range w = axes.w.window(static_cast<I>(at) - line * Q);
    int64_t best = -1;
    Computed<T> top =
        0;  // every window covers an element: PoolParams::out_sizes rejects empty ones
    for (int64_t k = d.begin; k < d.end; k += axes.d.dilation) {
      for (int64_t i = h.begin; i < h.end; i += axes.h.dilation) {
        const int64_t row = (k * axes.h.input + i) * axes.w.input;
        for (int64_t j = row + w.begin; j < row + w.end; j += axes.w.dilation) {
          const Computed<T> v = upcast(image[j]);
          if (best < 0 || v > top || std::isnan(v)) {
            best = j;
            top = v;
          }
        }
      }
    }
    y[at] = downcast<T>(top);
    if (index) index[at] = static_cast<int32_t>(best);
  }
}

// dx [images,in], initially zero; dy, index [images,out], n elements each
template <class T, class I>
__global__ void add_to_maxima(I n, I out, int64_t in, FaultSink faults, Computed<T>* dx,
                              const T* dy, const int32_t* index) {
  for (int64_t at = thread_index(); at < n; at += thread_count()) {
    const int64_t k = index[at];
    if (k < 0 || k >= in) {
      faults.report(FaultKind::index, k, in);
    } else {
      atomicAdd(dx + static_cast<I>(at) / out * in + k, upcast(dy[at]));
    }
  }
}

// As above, with one thread per image, so that the order of additions is fixed.
template <class T>
__global__ void add_in_order(int64_t images, int64_t out, int64_t in, FaultSink faults,
                             Computed<T>* dx, const T* dy, const int32_t* index) {
  for (int64_t image = thread_index(); image < images; image += thread_count()) {
    for (int64_t at = image * out; at < (image + 1) * out; ++at) {
      const int64_t k = index[at];
      if (k < 0 || k >= in) {
        faults.report(FaultKind::index, k, in);
      } else {
        dx[image * in + k] += upcast(dy[at]);
      }
    }
  }
}

}  // namespace

// y, index [N,C,out...] or undefined, x [N,C,in...]
void max_pool(Tensor& y, Tensor& index, const Tensor& x, const PoolParams& p) {
  const int64_t n = y.numel();
  if (n == 0) return;
  const PoolAxes axes(p, x, y);
  int32_t* positions = index.defined() ? index.data_ptr<int32_t>() : nullptr;
  visit<dtypes::kAnyFloating>(y.dtype(), [&]<class T>() {
    visit_index(n, [&]<class I>() {
      launch(max_windows<T, I>, grid_for(n), static_cast<I>(n), axes, y.data_ptr<T>(), positions,
             static_cast<const T*>(x.data_ptr<T>()));
    });
  });
}

// dx [N,C,in...], dy, index [N,C,out...]. Sums for reduced floating-point types are float32, for
// few images at a time, so that they fit in the GPU's cache.
void max_pool_grad(Tensor& dx, const Tensor& dy, const Tensor& index, const PoolParams& p) {
  if (dx.numel() == 0) return;
  if (dy.numel() == 0) return fill(dx, 0);
  const int64_t images = dx.size(0) * dx.size(1);
  const PoolAxes axes(p, dx, dy);
  const int64_t in = axes.input(), out = axes.output();
  // Disjoint windows share no maximum: their sums have a single term and need no order.
  const bool in_order = is_deterministic() && !axes.windows_are_apart();
  const FaultSink faults = Call::stream().gpu.faults().sink(Call::op());
  const int32_t* positions = index.data_ptr<int32_t>();
  visit<dtypes::kAnyFloating>(dx.dtype(), [&]<class T>() {
    using S = Computed<T>;
    constexpr int64_t kPart = int64_t{8} << 20;  // elements
    const int64_t part = std::same_as<S, T> ? images : std::clamp<int64_t>(kPart / in, 1, images);
    for (int64_t first = 0; first < images; first += part) {
      const int64_t n = std::min(part, images - first), windows = n * out;
      Tensor to = alias(dx, {n * in}, {1}, dx.storage_offset() + first * in);
      Tensor sums = std::same_as<S, T> ? to : empty(to.sizes(), to.options().dtype(kFloat32));
      fill(sums, 0);
      const T* from = dy.data_ptr<T>() + first * out;
      const int32_t* at = positions + first * out;
      if (in_order) {
        launch(add_in_order<T>, grid_for(n), n, out, in, faults, sums.data_ptr<S>(), from, at);
      } else {
        visit_index(windows, [&]<class I>() {
          launch(add_to_maxima<T, I>, grid_for(windows), static_cast<I>(windows),
                 static_cast<I>(out), in, faults, sums.data_ptr<S>(), from, at);
        });
      }
      if (!std::same_as<S, T>) copy(to, sums);
    }
  });
}

}  // namespace ambit::cuda
