// Positions in sorted rows, by binary search, one thread for each.
#include "backends/cuda/kernels.h"
#include "backends/cuda/loops/element16.cuh"
#include "backends/cuda/runtime/launch.h"

namespace ambit::cuda {
namespace {

// index, x [R,M]; sorted [R,N], or [1,N] if row_step is 0
template <class T>
__global__ void search(int64_t n, int64_t columns, int64_t length, int64_t row_step, bool right,
                       const T* sorted, const T* x, int64_t* index) {
  for (int64_t i = thread_index(); i < n; i += thread_count()) {
    const T* row = sorted + i / columns * row_step;
    const auto v = upcast(x[i]);
    int64_t low = 0, high = length;
    while (low < high) {
      const int64_t mid = low + (high - low) / 2;
      const auto at = upcast(row[mid]);
      const bool found = right ? at > v : at >= v;  // false for NaN
      if (found) {
        high = mid;
      } else {
        low = mid + 1;
      }
    }
    index[i] = low;
  }
}

}  // namespace

void searchsorted(Tensor& index, const Tensor& sorted, const Tensor& x, bool right) {
  const int64_t n = x.numel(), length = sorted.size(1);
  if (n == 0) return;
  visit<dtypes::with_reduced_floating(dtypes::kNumbers)>(x.dtype(), [&]<class T>() {
    launch(search<T>, grid_for(n), n, x.size(1), length, sorted.size(0) == 1 ? 0 : length, right,
           static_cast<const T*>(sorted.data_ptr<T>()), static_cast<const T*>(x.data_ptr<T>()),
           index.data_ptr<int64_t>());
  });
}

}  // namespace ambit::cuda
