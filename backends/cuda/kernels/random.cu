// Random fills. The numbers themselves are philox.h's, the same on every backend.
#include "backends/cuda/kernels.h"
#include "backends/cuda/loops/random_block.h"
#include "backends/cuda/runtime/launch.h"

namespace ambit::cuda {
namespace {

// y [n]
template <class T>
__global__ void fill_random(T* y, int64_t n, RandomParams p) {
  const int64_t blocks = random_blocks<T>(n, p);
  for (int64_t block = thread_index(); block < blocks; block += thread_count()) {
    write_random_block(y, n, p, block);
  }
}

}  // namespace

void random(Tensor& y, const RandomParams& p) {
  const int64_t n = y.numel();
  if (n == 0) return;
  visit(y.dtype(), [&]<class T>() {
    launch(fill_random<T>, grid_for(random_blocks<T>(n, p)), y.data_ptr<T>(), n, p);
  });
}

}  // namespace ambit::cuda
