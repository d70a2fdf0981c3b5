// Average pooling in one to three spatial dims and its gradient. Each element is read once, so
// cuDNN's graph could not be faster. All operands are contiguous.
#include "backends/cuda/kernels.h"
#include "backends/cuda/loops/element16.cuh"
#include "backends/cuda/loops/pool_window.h"
#include "backends/cuda/runtime/launch.h"

namespace ambit::cuda {
namespace {

/// The divisor of sums.
struct Divisor {
  // Return 1 for a window of padding only, whose mean is 0.
  __device__ double operator()(const PoolAxis::Range& d, const PoolAxis::Range& h,
                               const PoolAxis::Range& w) const {
    if (given != 0) return static_cast<double>(given);
    const int64_t n = include_pad ? d.extent * h.extent * w.extent
                                  : (d.end - d.begin) * (h.end - h.begin) * (w.end - w.begin);
    return static_cast<double>(n > 1 ? n : 1);
  }
  bool include_pad;
  int64_t given;
};

// y [images,out...], x [images,in...]; each thread computes one element of y.
template <class T>
__global__ void average_windows(int64_t n, PoolAxes axes, Divisor divisor, T* y, const T* x) {
  for (int64_t at = thread_index(); at < n; at += thread_count()) {
    const int64_t line = at / axes.w.output, plane = line / axes.h.output;
    const int64_t first = plane / axes.d.output;
    const T* image = x + first * axes.input();
    const PoolAxis::Range d = axes.d.window(plane - first * axes.d.output);
    const PoolAxis::Range h = axes.h.window(line - plane * axes.h.output);
    const PoolAxis::Range w = axes.w.window(at - line * axes.w.output);
    double sum = 0;
    for (int64_t k = d.begin; k < d.end; ++k) {
      for (int64_t i = h.begin; i < h.end; ++i) {
        const T* row = image + (k * axes.h.input + i) * axes.w.input;
        for (int64_t j = w.begin; j < w.end; ++j) sum += static_cast<double>(upcast(row[j]));
      }
    }
    y[at] = downcast<T>(sum / divisor(d, h, w));
  }
}

// dx [images,in...], dy [images,out...]; each thread computes one element of dx.
template <class T>
__global__ void sum_shares(int64_t n, PoolAxes axes, Divisor divisor, T* dx, const T* dy) {
  for (int64_t at = thread_index(); at < n; at += thread_count()) {
    const int64_t line = at / axes.w.input, plane = line / axes.h.input;
    const int64_t first = plane / axes.d.input;
    const T* slope = dy + first * axes.output();
    const PoolAxis::Range o = axes.d.windows_over(plane - first * axes.d.input);
    const PoolAxis::Range p = axes.h.windows_over(line - plane * axes.h.input);
    const PoolAxis::Range q = axes.w.windows_over(at - line * axes.w.input);
    double sum = 0;
    for (int64_t k = o.begin; k < o.end; ++k) {
      for (int64_t i = p.begin; i < p.end; ++i) {
        const T* row = slope + (k * axes.h.output + i) * axes.w.output;
        for (int64_t j = q.begin; j < q.end; ++j) {
          sum += static_cast<double>(upcast(row[j])) /
                 divisor(axes.d.window(k), axes.h.window(i), axes.w.window(j));
        }
      }
    }
    dx[at] = downcast<T>(sum);
  }
}

}  // namespace

// y [N,C,out...], x [N,C,in...]
void avg_pool(Tensor& y, const Tensor& x, const PoolParams& p) {
  const int64_t n = y.numel();
  if (n == 0) return;
  visit<dtypes::kAnyFloating>(y.dtype(), [&]<class T>() {
    launch(average_windows<T>, grid_for(n), n, PoolAxes(p, x, y),
           Divisor{p.count_include_pad, p.divisor}, y.data_ptr<T>(),
           static_cast<const T*>(x.data_ptr<T>()));
  });
}

// dx [N,C,in...], dy [N,C,out...]
void avg_pool_grad(Tensor& dx, const Tensor& dy, const PoolParams& p) {
  const int64_t n = dx.numel();
  if (n == 0) return;
  visit<dtypes::kAnyFloating>(dx.dtype(), [&]<class T>() {
    launch(sum_shares<T>, grid_for(n), n, PoolAxes(p, dx, dy),
           Divisor{p.count_include_pad, p.divisor}, dx.data_ptr<T>(),
           static_cast<const T*>(dy.data_ptr<T>()));
  });
}

}  // namespace ambit::cuda
