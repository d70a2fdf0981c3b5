// The position of the maximum or minimum along one dim.
#include "backends/cuda/kernels.h"
#include "backends/cuda/loops/accumulator.h"
#include "backends/cuda/loops/element16.cuh"
#include "backends/cuda/loops/reduce.cuh"

namespace ambit::cuda {
namespace {

template <class X>
struct ArgExtreme {
  using Value = Extreme<Computed<X>>;
  __device__ Value first() const { return {Computed<X>{0}, -1}; }
  __device__ Value load(const X* x, int64_t position) const { return {upcast(*x), position}; }
  __device__ Value join(Value a, Value b) const { return better(a, b, largest); }
  __device__ void store(int64_t result, Value v) const {
    index[result] = v.index;
    if (value) value[result] = downcast<X>(v.value);
  }
  X* value;  // null: not needed
  int64_t* index;
  bool largest;
};

}  // namespace

// value, index: shape of x with size 1 at dim, contiguous
void arg_reduce(Tensor& value, Tensor& index, const Tensor& x, int64_t dim, bool largest) {
  const auto keeps = [&](size_t d) { return static_cast<int64_t>(d) != dim; };
  const ReduceWalk walk = reduce_walk(Call::op(), x, keeps);
  const int64_t length = x.dim() == 0 ? 1 : x.size(dim);
  visit<dtypes::kEvery>(x.dtype(), [&]<class X>() {
    X* const pv = value.defined() ? value.data_ptr<X>() : nullptr;
    run_reduce<X>(ArgExtreme<X>{pv, index.data_ptr<int64_t>(), largest}, x, walk, index.numel(),
                  length);
  });
}

}  // namespace ambit::cuda
