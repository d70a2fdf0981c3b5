// 2-D maximum pooling and its gradient: cuDNN does not tell where the maxima are. All contiguous.
#include <ambit/settings.h>

#include <algorithm>
#include <limits>

#include "kernels.h"
#include "launch.h"
#include "pool_window.h"

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

// y, index [planes,P,Q], x [planes,H,W]; every thread makes one element of y.
template <class T, class I>
__global__ void max_windows(I n, PoolAxis rows, PoolAxis columns, T* y, int64_t* index,
                            const T* x) {
  for (int64_t at = thread_index(); at < n; at += thread_count()) {
    const auto P = static_cast<I>(rows.output), Q = static_cast<I>(columns.output);
    const I line = static_cast<I>(at) / Q, plane = line / P;
    const T* image = x + int64_t{plane} * rows.input * columns.input;
    const PoolAxis::Range h = rows.window(line - plane * P);
    const PoolAxis::Range w = columns.window(static_cast<I>(at) - line * Q);
    int64_t best = -1;
    T top = -std::numeric_limits<T>::infinity();  // a dilated window may fall on padding alone
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
    index[at] = best < 0 ? 0 : best;
  }
}

// dx [planes,H*W], zero before; dy, index [planes,P*Q]
template <class T, class I>
__global__ void add_to_maxima(I n, I out, int64_t in, FaultSink faults, T* dx, const T* dy,
                              const int64_t* index) {
  for (int64_t at = thread_index(); at < n; at += thread_count()) {
    const int64_t k = index[at];
    if (k < 0 || k >= in) {
      faults.report(FaultKind::index, k, in);
    } else {
      atomicAdd(dx + static_cast<I>(at) / out * in + k, dy[at]);
    }
  }
}

// The same in one order: every thread makes one element of dx from the windows that cover it.
template <class T, class I>
__global__ void sum_windows(I n, PoolAxis rows, PoolAxis columns, T* dx, const T* dy,
                            const int64_t* index) {
  for (int64_t at = thread_index(); at < n; at += thread_count()) {
    const auto H = static_cast<I>(rows.input), W = static_cast<I>(columns.input);
    const I line = static_cast<I>(at) / W, plane = line / H;
    const I h = line - plane * H, w = static_cast<I>(at) - line * W;
    const PoolAxis::Range p = rows.windows_over(h), q = columns.windows_over(w);
    T sum{0};
    for (int64_t i = p.begin; i < p.end; ++i) {
      for (int64_t j = q.begin; j < q.end; ++j) {
        const int64_t window = (plane * rows.output + i) * columns.output + j;
        if (index[window] == int64_t{h} * W + w) sum += dy[window];
      }
    }
    dx[at] = sum;
  }
}

PoolAxis axis(const Pool2dParams& p, size_t d, const Tensor& x, const Tensor& y) {
  const auto dim = static_cast<int64_t>(d) + 2;
  return {p, d, x.size(dim), y.size(dim)};
}

}  // namespace

// y, index [N,C,P,Q], x [N,C,H,W]
void max_pool2d(Tensor& y, Tensor& index, const Tensor& x, const Pool2dParams& p) {
  const int64_t n = y.numel();
  if (n == 0) return;
  const PoolAxis rows = axis(p, 0, x, y), columns = axis(p, 1, x, y);
  visit(y.dtype(), [&]<class T>() {
    if constexpr (std::is_floating_point_v<T>) {
      visit_index(n, [&]<class I>() {
        launch(max_windows<T, I>, grid_for(n), static_cast<I>(n), rows, columns, y.data_ptr<T>(),
               index.data_ptr<int64_t>(), static_cast<const T*>(x.data_ptr<T>()));
      });
    }
  });
}

// dx [N,C,H,W], dy, index [N,C,P,Q]
void max_pool2d_grad(Tensor& dx, const Tensor& dy, const Tensor& index, const Pool2dParams& p) {
  const int64_t n = dx.numel(), windows = dy.numel();
  if (n == 0) return;
  const PoolAxis rows = axis(p, 0, dx, dy), columns = axis(p, 1, dx, dy);
  const bool apart = rows.windows_are_apart() && columns.windows_are_apart();
  const FaultSink faults = Call::stream().gpu.faults().sink(Call::op());
  visit(dx.dtype(), [&]<class T>() {
    if constexpr (std::is_floating_point_v<T>) {
      const T* g = dy.data_ptr<T>();
      const int64_t* at = index.data_ptr<int64_t>();
      visit_index(std::max(n, windows), [&]<class I>() {
        if (is_deterministic() && !apart) {
          return launch(sum_windows<T, I>, grid_for(n), static_cast<I>(n), rows, columns,
                        dx.data_ptr<T>(), g, at);
        }
        check(cudaMemsetAsync(dx.data_ptr(), 0, dx.nbytes(), Call::stream().handle),
              "cudaMemsetAsync");
        if (windows == 0) return;
        launch(add_to_maxima<T, I>, grid_for(windows), static_cast<I>(windows),
               static_cast<I>(rows.output * columns.output), rows.input * columns.input, faults,
               dx.data_ptr<T>(), g, at);
      });
    }
  });
}

}  // namespace ambit::cuda
