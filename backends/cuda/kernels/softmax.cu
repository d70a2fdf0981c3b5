// Softmax and log-softmax along one dim, and their gradient: a line that fits into the registers of
// a block is read from memory once. cuDNN has no faster kernel.
#include "backends/cuda/kernels.h"
#include "backends/cuda/loops/lines.cuh"

namespace ambit::cuda {
namespace {

// A line is read twice: for its largest element and its sum, and for the results.
template <class T, bool kLog, int kLanes>
__global__ void softmax_lines(ContiguousLines lines, T* y, const T* x) {
  using C = Computed<T>;
  for_each_line<kLanes>(lines, [&](int64_t line, int64_t lane) {
    const int64_t start = lines.start(line);
    const auto at = [&](int64_t j) { return start + j * lines.inner; };
    const auto [largest, sum] =
        sum_exponentials<kLanes>(x + start, lines.length, lines.inner, lane);
    const C factor = kLog ? std::log(static_cast<C>(sum)) : static_cast<C>(1 / sum);
    for (int64_t j = lane; j < lines.length; j += kLanes) {
      const C shifted = upcast(x[at(j)]) - largest;
      y[at(j)] = downcast<T>(kLog ? shifted - factor : std::exp(shifted) * factor);
    }
  });
}

// As above, with the whole line in registers: each thread holds kHeld elements, read once.
template <class T, bool kLog, int kLanes, int kHeld>
__global__ void softmax_held(ContiguousLines lines, T* y, const T* x) {
  using C = Computed<T>;
  for_each_line<kLanes>(lines, [&](int64_t line, int64_t lane) {
    const int64_t start = lines.start(line);
    const auto place = [&](int k) { return lane + k * kLanes; };
    C v[kHeld];
    C largest = -std::numeric_limits<C>::infinity();
#pragma unroll
    for (int k = 0; k < kHeld; ++k) {
      if (place(k) >= lines.length) continue;
      v[k] = upcast(x[start + place(k) * lines.inner]);
      largest = fmax(largest, v[k]);
    }
    largest = join_line<kLanes>(largest, [](C a, C b) { return fmax(a, b); });
    double sum = 0;
#pragma unroll
    for (int k = 0; k < kHeld; ++k) {
      if (place(k) >= lines.length) continue;
      v[k] -= largest;
      const C e = std::exp(v[k]);
      sum += e;
      if (!kLog) v[k] = e;
    }
    sum = sum_line<kLanes>(sum);
    const C factor = kLog ? std::log(static_cast<C>(sum)) : static_cast<C>(1 / sum);
#pragma unroll
    for (int k = 0; k < kHeld; ++k) {
      if (place(k) >= lines.length) continue;
      y[start + place(k) * lines.inner] = downcast<T>(kLog ? v[k] - factor : v[k] * factor);
    }
  });
}

/// Return the kernel for lines of `length`: the one with the smallest sufficient kHeld.
template <class T, bool kLog, int kLanes>
auto softmax_kernel(int64_t length) {
  if constexpr (kLanes == kWarp) {
    if (length <= kLanes) return softmax_held<T, kLog, kLanes, 1>;
    if (length <= 4 * kLanes) return softmax_held<T, kLog, kLanes, 4>;
    if (length <= 16 * kLanes) return softmax_held<T, kLog, kLanes, 16>;
  }
  if constexpr (kLanes > 1) {
    if (length <= 32 * kLanes) return softmax_held<T, kLog, kLanes, 32>;
  }
  return softmax_lines<T, kLog, kLanes>;
}

template <class T, bool kLog, int kLanes>
__global__ void softmax_grad_lines(ContiguousLines lines, T* dx, const T* dy, const T* y) {
  using C = Computed<T>;
  for_each_line<kLanes>(lines, [&](int64_t line, int64_t lane) {
    const int64_t start = lines.start(line);
    const auto at = [&](int64_t j) { return start + j * lines.inner; };
    double sum = 0;
    for (int64_t j = lane; j < lines.length; j += kLanes) {
      const auto g = static_cast<double>(upcast(dy[at(j)]));
      sum += kLog ? g : g * static_cast<double>(upcast(y[at(j)]));
    }
    const C total = static_cast<C>(sum_line<kLanes>(sum));
    for (int64_t j = lane; j < lines.length; j += kLanes) {
      const C g = upcast(dy[at(j)]), out = upcast(y[at(j)]);
      dx[at(j)] = downcast<T>(kLog ? g - std::exp(out) * total : out * (g - total));
    }
  });
}

}  // namespace

void softmax(Tensor& y, const Tensor& x, int64_t dim, bool log) {
  visit_lines<dtypes::kAnyFloating>(
      x, dim, [&]<class T, int kLanes>(const ContiguousLines& lines, Grid grid) {
        const auto kernel = log ? softmax_kernel<T, true, kLanes>(lines.length)
                                : softmax_kernel<T, false, kLanes>(lines.length);
        launch(kernel, grid, lines, y.data_ptr<T>(), static_cast<const T*>(x.data_ptr<T>()));
      });
}

void softmax_grad(Tensor& dx, const Tensor& dy, const Tensor& y, int64_t dim, bool log) {
  visit_lines<dtypes::kAnyFloating>(
      y, dim, [&]<class T, int kLanes>(const ContiguousLines& lines, Grid grid) {
        const auto kernel =
            log ? softmax_grad_lines<T, true, kLanes> : softmax_grad_lines<T, false, kLanes>;
        launch(kernel, grid, lines, dx.data_ptr<T>(), static_cast<const T*>(dy.data_ptr<T>()),
               static_cast<const T*>(y.data_ptr<T>()));
      });
}

}  // namespace ambit::cuda
