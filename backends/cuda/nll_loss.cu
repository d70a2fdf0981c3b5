// Negative log-likelihood: one reduction, which sums the weights and on its way writes each loss.
#include "kernels.h"
#include "reduce.cuh"

namespace ambit::cuda {
namespace {

// x [N,C], w [C] or null, y [N]; folds target [N] into weight_sum [].
template <class T>
struct Losses {
  using Value = double;
  __device__ Value first() const { return 0; }
  __device__ Value load(const int64_t* target, int64_t n) const {
    const int64_t t = *target;
    const bool counts = t != ignore_index;
    if (!counts || t < 0 || t >= C) {
      if (counts) faults.report(FaultKind::target, t, C);
      y[n] = T{0};
      return 0;
    }
    const T weight = w ? w[t] : T{1};
    y[n] = -weight * x[n * C + t];
    return static_cast<Value>(weight);
  }
  __device__ Value join(Value a, Value b) const { return a + b; }
  __device__ void store(int64_t, Value v) const { *weight_sum = static_cast<T>(v); }

  T *y, *weight_sum;
  const T *x, *w;
  int64_t C, ignore_index;
  FaultSink faults;
};

}  // namespace

void nll_loss(Tensor& y, Tensor& weight_sum, const Tensor& x, const Tensor& target, const Tensor& w,
              int64_t ignore_index) {
  const ReduceWalk walk = reduce_walk(Call::op(), target, [](size_t) { return false; });
  const FaultSink faults = Call::stream().gpu.faults().sink(Call::op());
  visit(y.dtype(), [&]<class T>() {
    if constexpr (std::is_floating_point_v<T>) {
      const T* pw = w.defined() ? w.data_ptr<T>() : nullptr;
      const Losses<T> losses{
          y.data_ptr<T>(), weight_sum.data_ptr<T>(), x.data_ptr<T>(), pw, x.size(1), ignore_index,
          faults};
      run_reduce<int64_t>(losses, target, walk, 1, target.numel());
    }
  });
}

}  // namespace ambit::cuda
