// The kernel of a float32 sum, for division_test.sh, which checks the compiler's output.
#include "backends/cuda/loops/reduce.cuh"

namespace ambit::cuda {

struct FloatSum {
  using Value = double;
  __device__ double first() const { return 0; }
  __device__ double load(const float* x, int64_t) const { return static_cast<double>(*x); }
  __device__ double join(double a, double b) const { return a + b; }
  __device__ void store(int64_t result, double sum) const { y[result] = static_cast<float>(sum); }
  float* y;
};
template __global__ void reduce_kernel<FloatSum, float>(FloatSum, ReducePlan, ReduceWalk,
                                                        const float*, double*);
template __global__ void join_partials<FloatSum>(FloatSum, ReducePlan, const double*);

}  // namespace ambit::cuda
