// Positions in sorted rows, by binary search.
#include <type_traits>

#include "backends/cpu/kernels.h"
#include "backends/cpu/runtime/parallel.h"

namespace ambit::cpu {
namespace {

template <bool kRight, class T>
int64_t place_of(T number, const T* sorted, int64_t length) {
  using X = std::conditional_t<ReducedFloat<T>, float, T>;
  const X x = number;
  int64_t low = 0, high = length;
  while (low < high) {
    const int64_t mid = low + (high - low) / 2;
    const X other = sorted[mid];
    const bool before = kRight ? other > x : other >= x;  // false for NaN
    // Masks, since a branch would be mispredicted in every second step.
    const int64_t upper = -static_cast<int64_t>(!before);
    low += (mid + 1 - low) & upper;
    high += (mid - high) & ~upper;
  }
  return low;
}

template <bool kRight, class T>
void search(int64_t* index, const Tensor& sorted, const Tensor& x) {
  const int64_t columns = x.size(1), length = sorted.size(1);
  const int64_t row_step = sorted.size(0) == 1 ? 0 : length;
  const T* px = x.data_ptr<T>();
  const T* ps = sorted.data_ptr<T>();
  parallel_for(x.numel(), grain_for(64), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      index[i] = place_of<kRight>(px[i], ps + i / columns * row_step, length);
    }
  });
}

}  // namespace

// index, x [R,M]; sorted [R,N] or [1,N]
void searchsorted(Tensor& index, const Tensor& sorted, const Tensor& x, bool right) {
  int64_t* const to = index.data_ptr<int64_t>();
  visit<dtypes::kEvery>(x.dtype(), [&]<class T>() {
    right ? search<true, T>(to, sorted, x) : search<false, T>(to, sorted, x);
  });
}

}  // namespace ambit::cpu
