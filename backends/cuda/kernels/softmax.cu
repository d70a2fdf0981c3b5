// Softmax along one dim, its logarithm, and their gradient: own kernels, since a line is read from
// memory once; cuDNN's would do the same, after a descriptor or two.
#include "backends/cuda/kernels.h"
#include "backends/cuda/loops/lines.cuh"

namespace ambit::cuda {
namespace {

template <class T, bool kLog, int kLanes>
__global__ void softmax_lines(ContiguousLines lines, T* y, const T* x) {
  for_each_line<kLanes>(lines, [&](int64_t line, int64_t lane) {
    const int64_t start = lines.start(line);
    const auto at = [&](int64_t j) { return start + j * lines.inner; };
    const auto [largest, sum] =
        sum_exponentials<kLanes>(x + start, lines.length, lines.inner, lane);
    const T factor = kLog ? std::log(static_cast<T>(sum)) : static_cast<T>(1 / sum);
    for (int64_t j = lane; j < lines.length; j += kLanes) {
      const T shifted = x[at(j)] - largest;
      y[at(j)] = kLog ? shifted - factor : std::exp(shifted) * factor;
    }
  });
}

template <class T, bool kLog, int kLanes>
__global__ void softmax_grad_lines(ContiguousLines lines, T* dx, const T* dy, const T* y) {
  for_each_line<kLanes>(lines, [&](int64_t line, int64_t lane) {
    const int64_t start = lines.start(line);
    const auto at = [&](int64_t j) { return start + j * lines.inner; };
    double sum = 0;
    for (int64_t j = lane; j < lines.length; j += kLanes) {
      const auto g = static_cast<double>(dy[at(j)]);
      sum += kLog ? g : g * static_cast<double>(y[at(j)]);
    }
    const T total = static_cast<T>(sum_line<kLanes>(sum));
    for (int64_t j = lane; j < lines.length; j += kLanes) {
      const T g = dy[at(j)], out = y[at(j)];
      dx[at(j)] = kLog ? g - std::exp(out) * total : out * (g - total);
    }
  });
}

}  // namespace

void softmax(Tensor& y, const Tensor& x, int64_t dim, bool log) {
  visit_lines(x, dim, [&]<class T, int kLanes>(const ContiguousLines& lines, Grid grid) {
    const auto kernel = log ? softmax_lines<T, true, kLanes> : softmax_lines<T, false, kLanes>;
    launch(kernel, grid, lines, y.data_ptr<T>(), static_cast<const T*>(x.data_ptr<T>()));
  });
}

void softmax_grad(Tensor& dx, const Tensor& dy, const Tensor& y, int64_t dim, bool log) {
  visit_lines(y, dim, [&]<class T, int kLanes>(const ContiguousLines& lines, Grid grid) {
    const auto kernel =
        log ? softmax_grad_lines<T, true, kLanes> : softmax_grad_lines<T, false, kLanes>;
    launch(kernel, grid, lines, dx.data_ptr<T>(), static_cast<const T*>(dy.data_ptr<T>()),
           static_cast<const T*>(y.data_ptr<T>()));
  });
}

}  // namespace ambit::cuda
