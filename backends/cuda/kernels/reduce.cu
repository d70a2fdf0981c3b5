// Reductions over any set of dims.
#include "backends/cuda/kernels.h"
#include "backends/cuda/loops/accumulator.h"
#include "backends/cuda/loops/reduce.cuh"

namespace ambit::cuda {
namespace {

// Sum or product. y is of X, or int64.
template <class X>
struct Total {
  using Value = Accumulator<X>;
  __device__ Value first() const { return product ? Value{1} : Value{0}; }
  __device__ Value load(const X* x, int64_t) const { return static_cast<Value>(*x); }
  __device__ Value join(Value a, Value b) const { return product ? a * b : a + b; }
  __device__ void store(int64_t result, Value v) const {
    if (widens) {
      static_cast<int64_t*>(y)[result] = static_cast<int64_t>(v);
    } else {
      static_cast<X*>(y)[result] = static_cast<X>(v);
    }
  }
  void* y;
  bool product, widens;
};

template <class X>
struct MaxOrMin {
  using Value = X;
  __device__ Value first() const { return worst<X>(largest); }
  __device__ Value load(const X* x, int64_t) const { return *x; }
  __device__ Value join(Value a, Value b) const { return beats(b, a, largest) ? b : a; }
  __device__ void store(int64_t result, Value v) const { y[result] = v; }
  X* y;
  bool largest;
};

template <class X>
struct AnyOrAll {
  using Value = bool;
  __device__ Value first() const { return all; }
  __device__ Value load(const X* x, int64_t) const { return *x != X{0}; }
  __device__ Value join(Value a, Value b) const { return all ? a && b : a || b; }
  __device__ void store(int64_t result, Value v) const { y[result] = v; }
  bool* y;
  bool all;
};

}  // namespace

void reduce(Tensor& y, const Tensor& x, const ReduceOp& op) {
  const auto keeps = [&](size_t d) { return y.sizes()[d] != 1; };
  const ReduceWalk walk = reduce_walk(Call::op(), x, keeps);
  const int64_t results = y.numel(), length = results == 0 ? 0 : x.numel() / results;
  visit(x.dtype(), [&]<class X>() {
    switch (op) {
      case ReduceOp::sum:
      case ReduceOp::prod:
        return run_reduce<X>(Total<X>{y.data_ptr(), op == ReduceOp::prod, y.dtype() != x.dtype()},
                             x, walk, results, length);
      case ReduceOp::max:
      case ReduceOp::min:
        return run_reduce<X>(MaxOrMin<X>{y.data_ptr<X>(), op == ReduceOp::max}, x, walk, results,
                             length);
      case ReduceOp::any:
      case ReduceOp::all:
        return run_reduce<X>(AnyOrAll<X>{y.data_ptr<bool>(), op == ReduceOp::all}, x, walk, results,
                             length);
    }
  });
}

}  // namespace ambit::cuda
