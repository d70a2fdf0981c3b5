// 2-D maximum pooling and its gradient: cuDNN does not tell where the maxima are. All contiguous.
#include <ambit/settings.h>

#include <cmath>
#include <type_traits>

#include "backends/cuda/kernels.h"
#include "backends/cuda/loops/pool_window.h"
#include "backends/cuda/runtime/launch.h"

namespace ambit::cuda {
namespace {

/// Tensors of less than 2^31 elements take 32-bit divisions.
template <class F>
void visit_index(int64_t numel, const F& f) {
  if (numel <= INT32_MAX) {
    f.template operator()<int32_t>();
  } else {
    f.template operator()<int64_t>();
  }
}

// y, index [planes,P,Q] or null, x [planes,H,W]; every thread makes one element of y.
template <class T, class I>
__global__ void max_windows(I n, PoolAxis rows, PoolAxis columns, T* y, int32_t* index,
                            const T* x) {
  for (int64_t at = thread_index(); at < n; at += thread_count()) {
    const auto P = static_cast<I>(rows.output), Q = static_cast<I>(columns.output);
    const I line = static_cast<I>(at) / Q, plane = line / P;
    const T* image = x + int64_t{plane} * rows.input * columns.input;
    const PoolAxis::Range h = rows.window(line - plane * P);
    const PoolAxis::Range w = columns.window(static_cast<I>(at) - line * Q);
    int64_t best = -1;
    T top = 0;  // every window holds an element: PoolParams::out_sizes refuses others
    for (int64_t i = h.begin; i < h.end; i += rows.dilation) {
      for (int64_t j = w.begin; j < w.end; j += columns.dilation) {
        const T v = image[i * columns.input + j];
        if (best < 0 || v > top || (std::isnan(v) && !std::isnan(top))) {
          best = i * columns.input + j;
          top = v;
        }
      }
    }
    y[at] = top;
    if (index) index[at] = static_cast<int32_t>(best);
  }
}

// dx [planes,in], zero before; dy, index [planes,out], n elements of them
template <class T, class I>
__global__ void add_to_maxima(I n, I out, int64_t in, FaultSink faults, T* dx, const T* dy,
                              const int32_t* index) {
  for (int64_t at = thread_index(); at < n; at += thread_count()) {
    const int64_t k = index[at];
    if (k < 0 || k >= in) {
      faults.report(FaultKind::index, k, in);
    } else {
      atomicAdd(dx + static_cast<I>(at) / out * in + k, dy[at]);
    }
  }
}

// The same, a thread a plane, so that the order of adding is always the same.
template <class T>
__global__ void add_in_order(int64_t planes, int64_t out, int64_t in, FaultSink faults, T* dx,
                             const T* dy, const int32_t* index) {
  for (int64_t plane = thread_index(); plane < planes; plane += thread_count()) {
    for (int64_t at = plane * out; at < (plane + 1) * out; ++at) {
      const int64_t k = index[at];
      if (k < 0 || k >= in) {
        faults.report(FaultKind::index, k, in);
      } else {
        dx[plane * in + k] += dy[at];
      }
    }
  }
}

PoolAxis axis(const PoolParams& p, size_t d, const Tensor& x, const Tensor& y) {
  const auto dim = static_cast<int64_t>(d) + 2;
  return {p, d, x.size(dim), y.size(dim)};
}

}  // namespace

// y, index [N,C,P,Q] or undefined, x [N,C,H,W]
void max_pool(Tensor& y, Tensor& index, const Tensor& x, const PoolParams& p) {
  const int64_t n = y.numel();
  if (n == 0) return;
  const PoolAxis rows = axis(p, 0, x, y), columns = axis(p, 1, x, y);
  int32_t* positions = index.defined() ? index.data_ptr<int32_t>() : nullptr;
  visit<dtypes::kFloating>(y.dtype(), [&]<class T>() {
    visit_index(n, [&]<class I>() {
      launch(max_windows<T, I>, grid_for(n), static_cast<I>(n), rows, columns, y.data_ptr<T>(),
             positions, static_cast<const T*>(x.data_ptr<T>()));
    });
  });
}

// dx [N,C,H,W], dy, index [N,C,P,Q]
void max_pool_grad(Tensor& dx, const Tensor& dy, const Tensor& index, const PoolParams& p) {
  if (dx.numel() == 0) return;
  fill(dx, 0);
  const int64_t windows = dy.numel(), planes = dx.size(0) * dx.size(1);
  if (windows == 0) return;
  const PoolAxis rows = axis(p, 0, dx, dy), columns = axis(p, 1, dx, dy);
  const int64_t in = rows.input * columns.input, out = windows / planes;
  // No two windows apart share a maximum: their sums have one term, and no order.
  const bool in_order =
      is_deterministic() && !(rows.windows_are_apart() && columns.windows_are_apart());
  const FaultSink faults = Call::stream().gpu.faults().sink(Call::op());
  visit<dtypes::kFloating>(dx.dtype(), [&]<class T>() {
    T* to = dx.data_ptr<T>();
    const T* from = dy.data_ptr<T>();
    const int32_t* positions = index.data_ptr<int32_t>();
    if (in_order) {
      return launch(add_in_order<T>, grid_for(planes), planes, out, in, faults, to, from,
                    positions);
    }
    visit_index(windows, [&]<class I>() {
      launch(add_to_maxima<T, I>, grid_for(windows), static_cast<I>(windows), static_cast<I>(out),
             in, faults, to, from, positions);
    });
  });
}

}  // namespace ambit::cuda
