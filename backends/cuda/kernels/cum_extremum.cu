// Running extremes along one dim, and their positions.
#include "backends/cuda/kernels.h"
#include "backends/cuda/loops/accumulator.h"
#include "backends/cuda/loops/element16.cuh"
#include "backends/cuda/loops/scan.cuh"

#include <type_traits>

namespace ambit::cuda {
namespace {

template <class T>
struct ExtremeSoFar {
  // As wide as an index and exact for every T: a Value without padding, which blocks would copy
  // uninitialised.
  using Wide = std::conditional_t<std::is_integral_v<T>, int64_t, double>;
  using Value = Extreme<Wide>;
  __device__ Value first() const { return {Wide{0}, -1}; }
  __device__ Value load(int64_t offset, int64_t i) const {
    return {static_cast<Wide>(upcast(x[offset])), i};
  }
  // NaN ranks above all numbers. Among equal elements, and among NaN, the last one is taken.
  __device__ Value join(const Value& a, const Value& b) const {
    if (a.index < 0 || b.index < 0) return a.index < 0 ? b : a;
    if (arithmetic::beats(a.value, b.value, largest)) return a;
    if (arithmetic::beats(b.value, a.value, largest)) return b;
    return a.index > b.index ? a : b;
  }
  __device__ void store(int64_t offset, const Value& v) const {
    y[offset] = downcast<T>(v.value);
    index[offset] = v.index;
  }
  const T* x;
  T* y;
  int64_t* index;
  bool largest;
};

}  // namespace

// y, index, x [.., n, ..]; y and index contiguous
void cum_extremum(Tensor& y, Tensor& index, const Tensor& x, int64_t dim, bool largest) {
  if (x.numel() == 0) return;
  visit<dtypes::kEvery>(x.dtype(), [&]<class T>() {
    run_scan(ExtremeSoFar<T>{x.data_ptr<T>(), y.data_ptr<T>(), index.data_ptr<int64_t>(), largest},
             y, x, {.dim = dim});
  });
}

}  // namespace ambit::cuda
