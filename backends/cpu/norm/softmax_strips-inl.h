// softmax of interleaved lines, for tensors too large for the caches: memory is read once and
// written once. A strip of adjacent lines is packed into scratch memory: its rows (element i of
// each line) are often a power of two apart and would map to few cache sets. Three strips are
// pipelined (one is read, one computes exponentials, one is written), so that memory does not wait
// for arithmetic. Included once per instruction set.
#if defined(AMBIT_CPU_SOFTMAX_STRIPS_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef AMBIT_CPU_SOFTMAX_STRIPS_INL_H
#undef AMBIT_CPU_SOFTMAX_STRIPS_INL_H
#else
#define AMBIT_CPU_SOFTMAX_STRIPS_INL_H
#endif

#include <hwy/cache_control.h>
#include <hwy/highway.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "backends/cpu/runtime/scratch.h"
#include "softmax_line-inl.h"

HWY_BEFORE_NAMESPACE();
namespace ambit::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// Lines of n elements, element i of the first at x[i * step] and y[i * step].
template <class T>
class Strip {
  using D = hn::ScalableTag<T>;
  using V = hn::Vec<D>;
  static constexpr int64_t kLanes = hn::MaxLanes(D());

 public:
  static constexpr int64_t kWidth = 256 / sizeof(T);  // adjacent lines
  static constexpr int64_t kMostRows = 8192;          // 2 MiB packed

  Strip() = default;
  Strip(int64_t n, int64_t step, T* y, const T* x, T* packed)
      : n_(n), step_(step), y_(y), packed_(packed), x_(x) {
    std::fill_n(most_, kWidth, -std::numeric_limits<T>::infinity());
    std::fill_n(sum_, kWidth, 0.0);
  }

  /// Pack rows [begin, end) and prefetch the next rows.
  void read(int64_t begin, int64_t end) {
    for (int64_t i = end; i < std::min(n_, end + kAhead); ++i) {
      for (int64_t j = 0; j < kWidth; j += 64 / sizeof(T)) hwy::Prefetch(x_ + i * step_ + j);
    }
    for (int64_t j = 0; j < kWidth; j += kLanes) {
      V most = hn::Load(d, most_ + j);
      for (int64_t i = begin; i < end; ++i) {
        const V v = hn::LoadU(d, x_ + i * step_ + j);
        hn::Store(v, d, packed_ + i * kWidth + j);
        most = hn::Max(most, v);
      }
      hn::Store(most, d, most_ + j);
    }
  }

  /// Add the exponentials of rows [begin, end) to the sums; store them unless `log`.
  void add_exponentials(int64_t begin, int64_t end, bool log) {
    alignas(64) T part[kWidth];
    for (int64_t j = 0; j < kWidth; j += kLanes) {
      const V most = hn::Load(d, most_ + j);
      V sum = hn::Zero(d);
      for (T* p = packed_ + begin * kWidth + j; p < packed_ + end * kWidth; p += kWidth) {
        const V e = exp_nonpositive(d, hn::Sub(hn::Load(d, p), most));
        if (!log) hn::Store(e, d, p);
        sum = hn::Add(sum, e);
      }
      hn::Store(sum, d, part + j);
    }
    for (int64_t j = 0; j < kWidth; ++j) sum_[j] += static_cast<double>(part[j]);
  }

  /// Call after all exponentials have been added.
  void finish(bool log) {
    for (int64_t j = 0; j < kWidth; ++j) {
      last_[j] = static_cast<T>(log ? std::log(sum_[j]) : 1 / sum_[j]);
    }
  }

  /// Write rows [begin, end); `streams`: by non-temporal stores, for y with vector-aligned rows.
  void write(int64_t begin, int64_t end, bool log, bool streams) const {
    for (int64_t i = begin; i < end; ++i) {
      for (int64_t j = 0; j < kWidth; j += kLanes) {
        const V last = hn::Load(d, last_ + j);
        V v = hn::Load(d, packed_ + i * kWidth + j);
        v = log ? hn::Sub(hn::Sub(v, hn::Load(d, most_ + j)), last) : hn::Mul(v, last);
        streams ? hn::Stream(v, d, y_ + i * step_ + j) : hn::StoreU(v, d, y_ + i * step_ + j);
      }
    }
  }

 private:
  static constexpr D d{};
  // Measured: more prefetched rows evict each other, since they map to the same L1 sets;
  // prefetching some rows twice loads the evicted ones again.
  static constexpr int64_t kAhead = 8;

  int64_t n_ = 0, step_ = 0;
  T *y_ = nullptr, *packed_ = nullptr;
  const T* x_ = nullptr;
  alignas(64) T most_[kWidth], last_[kWidth];  // last: the sum's logarithm or inverse
  double sum_[kWidth];
};

/// y = softmax(x) for strips [first, last), strip k beginning at at(k).
template <class T, class F>
void softmax_strips(int64_t n, int64_t step, int64_t first, int64_t last, T* y, const T* x,
                    bool log, const F& at) {
  constexpr int64_t kRows = 4;  // rows per step
  constexpr int64_t kWidth = Strip<T>::kWidth;
  // Every row of y begins at a cache line.
  const bool streams = reinterpret_cast<uintptr_t>(y) % 64 == 0 && step * sizeof(T) % 64 == 0;
  const Scratch scratch(static_cast<size_t>(2 * n * kWidth) * sizeof(T));
  Strip<T> strips[3];
  for (int64_t k = first; k < last + 2; ++k) {
    Strip<T>&next = strips[k % 3], &current = strips[(k + 2) % 3], &previous = strips[(k + 1) % 3];
    const bool reads = k<last, writes = k> first + 1;
    const bool adds = first < k && k <= last;
    // `next` reuses the buffer of `previous`: each row is written to y before `next` overwrites it.
    T* packed = scratch.data<T>() + k % 2 * n * kWidth;
    if (reads) next = Strip<T>(n, step, y + at(k), x + at(k), packed);
    for (int64_t begin = 0; begin < n; begin += kRows) {
      const int64_t end = std::min(n, begin + kRows);
      if (writes) previous.write(begin, end, log, streams);
      if (reads) next.read(begin, end);
      if (adds) current.add_exponentials(begin, end, log);
    }
    if (adds) current.finish(log);
  }
  if (streams) hwy::FlushStream();
}

}  // namespace ambit::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
