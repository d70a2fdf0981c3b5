// Softmax along one dim, its logarithm, and their gradient: own kernels, since a line is read from
// memory once and the rest is done in the cache; cuDNN's would do the same, after a descriptor or
// two. Lines of neighbouring elements are shared by a warp, or a block when they are long; where
// the dim is not the last, a thread takes a whole line and its neighbours the neighbouring ones.
#include <algorithm>
#include <cmath>
#include <limits>

#include "kernels.h"
#include "launch.h"

namespace ambit::cuda {
namespace {

constexpr int kWarp = 32;

/// Lines of a contiguous tensor [outer,length,inner] along the middle.
struct SoftmaxLines {
  int64_t count, length, inner;
  __device__ int64_t start(int64_t line) const {
    return line / inner * length * inner + line % inner;
  }
};

/// Return join over the values of the kLanes threads of a line; all of them get it.
template <int kLanes, class T, class Join>
__device__ T join_lanes(T v, const Join& join) {
  if constexpr (kLanes >= kWarp) {
    for (int step = kWarp / 2; step > 0; step /= 2) v = join(v, __shfl_xor_sync(~0u, v, step));
  }
  if constexpr (kLanes > kWarp) {
    __shared__ T of_warps[kLanes / kWarp];
    __syncthreads();  // what was there before has been read
    if (threadIdx.x % kWarp == 0) of_warps[threadIdx.x / kWarp] = v;
    __syncthreads();
    v = of_warps[0];
    for (int w = 1; w < kLanes / kWarp; ++w) v = join(v, of_warps[w]);
  }
  return v;
}
template <int kLanes>
__device__ double sum_lanes(double v) {
  return join_lanes<kLanes>(v, [](double a, double b) { return a + b; });
}

// The line of this thread: all threads of a warp go through the same number of lines, or the
// exchange between them would hang.
template <int kLanes, class F>
__device__ void for_each_line(const SoftmaxLines& lines, const F& f) {
  const int64_t step = thread_count() / kLanes;
  for (int64_t line = thread_index() / kLanes; line < lines.count; line += step) {
    f(lines.start(line), static_cast<int64_t>(threadIdx.x % kLanes));
  }
}

// exp(x - max) / sum, so that exp cannot overflow.
template <class T, bool kLog, int kLanes>
__global__ void softmax_lines(SoftmaxLines lines, T* y, const T* x) {
  for_each_line<kLanes>(lines, [&](int64_t start, int64_t lane) {
    const auto at = [&](int64_t j) { return start + j * lines.inner; };
    T top = -std::numeric_limits<T>::infinity();
    for (int64_t j = lane; j < lines.length; j += kLanes) top = fmax(top, x[at(j)]);
    top = join_lanes<kLanes>(top, [](T a, T b) { return fmax(a, b); });
    double sum = 0;
    for (int64_t j = lane; j < lines.length; j += kLanes) sum += std::exp(x[at(j)] - top);
    sum = sum_lanes<kLanes>(sum);
    const T factor = kLog ? std::log(static_cast<T>(sum)) : static_cast<T>(1 / sum);
    for (int64_t j = lane; j < lines.length; j += kLanes) {
      const T shifted = x[at(j)] - top;
      y[at(j)] = kLog ? shifted - factor : std::exp(shifted) * factor;
    }
  });
}

template <class T, bool kLog, int kLanes>
__global__ void softmax_grad_lines(SoftmaxLines lines, T* dx, const T* dy, const T* y) {
  for_each_line<kLanes>(lines, [&](int64_t start, int64_t lane) {
    const auto at = [&](int64_t j) { return start + j * lines.inner; };
    double sum = 0;
    for (int64_t j = lane; j < lines.length; j += kLanes) {
      const auto g = static_cast<double>(dy[at(j)]);
      sum += kLog ? g : g * static_cast<double>(y[at(j)]);
    }
    const T total = static_cast<T>(sum_lanes<kLanes>(sum));
    for (int64_t j = lane; j < lines.length; j += kLanes) {
      const T g = dy[at(j)], out = y[at(j)];
      dx[at(j)] = kLog ? g - std::exp(out) * total : out * (g - total);
    }
  });
}

/// Call f.operator()<T, kLog, kLanes>(lines, grid) for the lines of t along dim.
template <class F>
void visit_lines(const Tensor& t, int64_t dim, bool log, const F& f) {
  if (t.numel() == 0) return;
  int64_t inner = 1;
  for (int64_t d = dim + 1; d < t.dim(); ++d) inner *= t.size(d);
  const int64_t length = t.dim() == 0 ? 1 : t.size(dim);
  const SoftmaxLines lines{t.numel() / length, length, inner};
  constexpr int64_t kLongLine = 2048, kFewLines = 4096;
  const auto with_lanes = [&]<class T, bool kLog>() {
    if (length > kLongLine && (inner == 1 || lines.count < kFewLines)) {
      f.template operator()<T, kLog, kThreads>(lines, grid_for(lines.count * kThreads));
    } else if (inner == 1 && length > 1) {
      f.template operator()<T, kLog, kWarp>(lines, grid_for(lines.count * kWarp));
    } else {
      f.template operator()<T, kLog, 1>(lines, grid_for(lines.count));
    }
  };
  visit(t.dtype(), [&]<class T>() {
    if constexpr (std::is_floating_point_v<T>) {
      if (log) {
        with_lanes.template operator()<T, true>();
      } else {
        with_lanes.template operator()<T, false>();
      }
    }
  });
}

}  // namespace

void softmax(Tensor& y, const Tensor& x, int64_t dim, bool log) {
  visit_lines(x, dim, log, [&]<class T, bool kLog, int kLanes>(const SoftmaxLines& lines, Grid g) {
    launch(softmax_lines<T, kLog, kLanes>, g, lines, y.data_ptr<T>(),
           static_cast<const T*>(x.data_ptr<T>()));
  });
}

void softmax_grad(Tensor& dx, const Tensor& dy, const Tensor& y, int64_t dim, bool log) {
  visit_lines(y, dim, log, [&]<class T, bool kLog, int kLanes>(const SoftmaxLines& lines, Grid g) {
    launch(softmax_grad_lines<T, kLog, kLanes>, g, lines, dx.data_ptr<T>(),
           static_cast<const T*>(dy.data_ptr<T>()), static_cast<const T*>(y.data_ptr<T>()));
  });
}

}  // namespace ambit::cuda
