// 2-D average pooling and its gradient: each reads what it needs once, so that cuDNN's graph would
// only add its overhead. All contiguous.
#include "backends/cuda/kernels.h"
#include "backends/cuda/loops/pool_window.h"
#include "backends/cuda/runtime/launch.h"

namespace ambit::cuda {
namespace {

// How many elements an average is over; 1 for a window on padding alone, whose average is 0.
__device__ double divisor(const PoolAxis::Range& h, const PoolAxis::Range& w, bool include_pad) {
  const int64_t n = include_pad ? h.extent * w.extent : (h.end - h.begin) * (w.end - w.begin);
  return static_cast<double>(n > 1 ? n : 1);
}

// y [planes,P,Q], x [planes,H,W]; every thread makes one element of y.
template <class T>
__global__ void average_windows(int64_t n, PoolAxis rows, PoolAxis columns, bool include_pad, T* y,
                                const T* x) {
  for (int64_t at = thread_index(); at < n; at += thread_count()) {
    const int64_t line = at / columns.output, plane = line / rows.output;
    const T* image = x + plane * rows.input * columns.input;
    const PoolAxis::Range h = rows.window(line - plane * rows.output);
    const PoolAxis::Range w = columns.window(at - line * columns.output);
    double sum = 0;
    for (int64_t i = h.begin; i < h.end; ++i) {
      const T* row = image + i * columns.input;
      for (int64_t j = w.begin; j < w.end; ++j) sum += static_cast<double>(row[j]);
    }
    y[at] = static_cast<T>(sum / divisor(h, w, include_pad));
  }
}

// dx [planes,H,W], dy [planes,P,Q]; every thread makes one element of dx.
template <class T>
__global__ void sum_shares(int64_t n, PoolAxis rows, PoolAxis columns, bool include_pad, T* dx,
                           const T* dy) {
  for (int64_t at = thread_index(); at < n; at += thread_count()) {
    const int64_t line = at / columns.input, plane = line / rows.input;
    const T* slope = dy + plane * rows.output * columns.output;
    const PoolAxis::Range p = rows.windows_over(line - plane * rows.input);
    const PoolAxis::Range q = columns.windows_over(at - line * columns.input);
    double sum = 0;
    for (int64_t i = p.begin; i < p.end; ++i) {
      for (int64_t j = q.begin; j < q.end; ++j) {
        sum += static_cast<double>(slope[i * columns.output + j]) /
               divisor(rows.window(i), columns.window(j), include_pad);
      }
    }
    dx[at] = static_cast<T>(sum);
  }
}

PoolAxis axis(const PoolParams& p, size_t d, const Tensor& x, const Tensor& y) {
  const auto dim = static_cast<int64_t>(d) + 2;
  return {p, d, x.size(dim), y.size(dim)};
}

}  // namespace

// y [N,C,P,Q], x [N,C,H,W]
void avg_pool(Tensor& y, const Tensor& x, const PoolParams& p) {
  const int64_t n = y.numel();
  if (n == 0) return;
  visit<dtypes::kFloating>(y.dtype(), [&]<class T>() {
    launch(average_windows<T>, grid_for(n), n, axis(p, 0, x, y), axis(p, 1, x, y),
           p.count_include_pad, y.data_ptr<T>(), static_cast<const T*>(x.data_ptr<T>()));
  });
}

// dx [N,C,H,W], dy [N,C,P,Q]
void avg_pool_grad(Tensor& dx, const Tensor& dy, const PoolParams& p) {
  const int64_t n = dx.numel();
  if (n == 0) return;
  visit<dtypes::kFloating>(dx.dtype(), [&]<class T>() {
    launch(sum_shares<T>, grid_for(n), n, axis(p, 0, dx, dy), axis(p, 1, dx, dy),
           p.count_include_pad, dx.data_ptr<T>(), static_cast<const T*>(dy.data_ptr<T>()));
  });
}

}  // namespace ambit::cuda
