// Shared code of kernels on whole lines of a contiguous tensor, such as softmax: a line is read
// from memory once and then from the cache. A contiguous line is processed by a warp, or by a block
// if it is long; along other dims each thread processes a line, and adjacent threads adjacent
// lines.
#pragma once

#include <ambit/tensor.h>

#include <cmath>
#include <limits>

#include "backends/cuda/runtime/launch.h"
#include "element16.cuh"

namespace ambit::cuda {

inline constexpr int kWarp = 32;

/// Lines of a contiguous tensor [outer,length,inner] along the middle dim.
struct ContiguousLines {
  int64_t count, length, inner;
  __device__ int64_t start(int64_t line) const {
    return line / inner * length * inner + line % inner;
  }
};

/// Return join over the values of the kLanes threads of a line; every thread gets the result.
template <int kLanes, class T, class Join>
__device__ T join_line(T v, const Join& join) {
  if constexpr (kLanes >= kWarp) {
    for (int step = kWarp / 2; step > 0; step /= 2) v = join(v, __shfl_xor_sync(~0u, v, step));
  }
  if constexpr (kLanes > kWarp) {
    __shared__ T of_warps[kLanes / kWarp];
    __syncthreads();  // previous values have been read
    if (threadIdx.x % kWarp == 0) of_warps[threadIdx.x / kWarp] = v;
    __syncthreads();
    v = of_warps[0];
    for (int w = 1; w < kLanes / kWarp; ++w) v = join(v, of_warps[w]);
  }
  return v;
}
template <int kLanes>
__device__ double sum_line(double v) {
  return join_line<kLanes>(v, [](double a, double b) { return a + b; });
}

/// Call f(line, lane) for the lines of this thread. All threads of a warp must loop over the same
/// number of lines, or shuffles would hang.
template <int kLanes, class F>
__device__ void for_each_line(const ContiguousLines& lines, const F& f) {
  const int64_t step = thread_count() / kLanes;
  for (int64_t line = thread_index() / kLanes; line < lines.count; line += step) {
    f(line, static_cast<int64_t>(threadIdx.x % kLanes));
  }
}

/// The largest element of a line, and the sum of exp(x - largest), which cannot overflow.
template <class T>
struct Exponentials {
  T largest;
  double sum;
  __device__ T log_softmax(T x) const {
    return static_cast<T>(static_cast<double>(x - largest) - std::log(sum));
  }
};

/// Return exp(x - largest); 0 for -inf, also while the largest element is -inf.
template <class T>
__device__ T exponential(T x, T largest) {
  constexpr T kNone = -std::numeric_limits<T>::infinity();
  return x == kNone && largest == kNone ? T(0) : std::exp(x - largest);
}

/// Reduce x [length], `stride` apart, in one pass by kLanes threads: each keeps its largest element
/// so far, and rescales its sum when a larger one occurs, once for several elements and in float64,
/// so that repeated rescaling loses no digits.
/// Source: Milakov & Gimelshein 2018, arXiv:1805.02867.
template <int kLanes, class T>
__device__ Exponentials<Computed<T>> sum_exponentials(const T* x, int64_t length, int64_t stride,
                                                      int64_t lane) {
  using C = Computed<T>;
  constexpr int kFew = 8;
  constexpr C kNone = -std::numeric_limits<C>::infinity();
  const auto lowered = [](double sum, C from, C to) {
    return from == to ? sum : sum * std::exp(static_cast<double>(from) - static_cast<double>(to));
  };
  Exponentials<C> e{kNone, 0};
  for (int64_t j = lane; j < length; j += kFew * kLanes) {
    C v[kFew];
    C largest = e.largest;
#pragma unroll
    for (int k = 0; k < kFew; ++k) {
      const int64_t at = j + k * kLanes;
      v[k] = at < length ? upcast(x[at * stride]) : kNone;
      largest = fmax(largest, v[k]);
    }
    e.sum = lowered(e.sum, e.largest, largest);
    e.largest = largest;
#pragma unroll
    for (int k = 0; k < kFew; ++k) e.sum += exponential(v[k], largest);
  }
  const C largest = join_line<kLanes>(e.largest, [](C a, C b) { return fmax(a, b); });
  e.sum = sum_line<kLanes>(lowered(e.sum, e.largest, largest));
  e.largest = largest;
  return e;
}

/// Call f.operator()<T, kLanes>(lines, grid) for the lines of t along dim; its dtype is in set.
template <DTypeBits set = dtypes::kFloating, class F>
void visit_lines(const Tensor& t, int64_t dim, const F& f) {
  if (t.numel() == 0) return;
  int64_t inner = 1;
  for (int64_t d = dim + 1; d < t.dim(); ++d) inner *= t.size(d);
  const int64_t length = t.dim() == 0 ? 1 : t.size(dim);
  const ContiguousLines lines{t.numel() / length, length, inner};
  constexpr int64_t kLongLine = 2048, kFewLines = 4096;
  visit<set>(t.dtype(), [&]<class T>() {
    if (length > kLongLine && (inner == 1 || lines.count < kFewLines)) {
      f.template operator()<T, kThreads>(lines, grid_for(lines.count * kThreads));
    } else if (inner == 1 && length > 1) {
      f.template operator()<T, kWarp>(lines, grid_for(lines.count * kWarp));
    } else {
      f.template operator()<T, 1>(lines, grid_for(lines.count));
    }
  });
}

}  // namespace ambit::cuda
