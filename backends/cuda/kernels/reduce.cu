// Reductions over any set of dims.
#include <ambit/backend/folds.h>

#include "backends/cuda/kernels.h"
#include "backends/cuda/loops/element16.cuh"
#include "backends/cuda/loops/reduce.cuh"

namespace ambit::cuda {
namespace {

// y has the fold's result type or X: integer sums may have either, float32 sums have X.
template <ReduceOp op, class X>
struct Folding {
  using Fold = arithmetic::Fold<op, X>;
  using Value = typename Fold::Value;
  using Result = arithmetic::Folded<op, X>;
  __device__ Value first() const {
    constexpr Value nothing = Fold::kNothing;  // device code has no address of Fold's member
    return nothing;
  }
  __device__ Value load(const X* x, int64_t) const { return Fold::element(*x); }
  __device__ Value join(Value a, Value b) const { return Fold::merge(a, b); }
  __device__ void store(int64_t result, Value merged) const {
    const Result v = arithmetic::finished<op>(merged, count);
    if (of_results) {
      static_cast<Result*>(y)[result] = v;
    } else {
      static_cast<X*>(y)[result] = static_cast<X>(v);
    }
  }
  void* y;
  bool of_results;
  int64_t count;  // elements per result
};

// As Folding, for reduced floating-point elements; y has their dtype, or bool.
template <ReduceOp op>
struct Folding16 {
  using Float = Folding<op, float>;
  using Value = typename Float::Value;
  __device__ Value first() const { return f.first(); }
  __device__ Value load(const Element16* x, int64_t position) const {
    const float wide = dtype.wide(*x);
    return f.load(&wide, position);
  }
  __device__ Value join(Value a, Value b) const { return f.join(a, b); }
  __device__ void store(int64_t result, Value merged) const {
    if (f.of_results) return f.store(result, merged);
    const auto v = arithmetic::finished<op>(merged, f.count);
    static_cast<Element16*>(f.y)[result] = dtype.narrow(static_cast<float>(v));
  }
  Float f;
  Dtype16 dtype;
};

template <ReduceOp op>
void fold(Tensor& y, const Tensor& x) {
  const auto keeps = [&](size_t d) { return y.sizes()[d] != 1; };
  const ReduceWalk walk = reduce_walk(Call::op(), x, keeps);
  const int64_t results = y.numel(), length = results == 0 ? 0 : x.numel() / results;
  if constexpr (DTypeSet(row_of(op).dtypes).contains(kFloat32)) {
    if (is_reduced_floating(x.dtype())) {
      const Folding16<op> f{{y.data_ptr(), y.dtype() == kBool, length}, Dtype16(x.dtype())};
      return run_reduce<Element16>(f, x, walk, results, length);
    }
  }
  visit<row_of(op).dtypes>(x.dtype(), [&]<class X>() {
    using F = Folding<op, X>;
    const F f{y.data_ptr(), y.dtype() == dtype_of<typename F::Result>, length};
    run_reduce<X>(f, x, walk, results, length);
  });
}

}  // namespace

void reduce(Tensor& y, const Tensor& x, const ReduceOp& op) {
  switch (op) {
#define AMBIT_CASE(name, ...) \
  case ReduceOp::name:        \
    return fold<ReduceOp::name>(y, x);
    AMBIT_REDUCE_FUNCTIONS(AMBIT_CASE)
#undef AMBIT_CASE
  }
}

}  // namespace ambit::cuda
