// Random fills with the numbers of philox.h, the same on every backend.
#include "backends/cuda/kernels.h"
#include "backends/cuda/loops/random_block.h"
#include "backends/cuda/runtime/graph.h"
#include "backends/cuda/runtime/launch.h"

namespace ambit::cuda {
namespace {

// y [n]; base is null except in a graph
template <class T>
__global__ void fill_random(T* y, int64_t n, RandomParams p, const RandomBase* base) {
  if (base) {
    p.seed = base->seed;
    p.offset += base->moved;
  }
  const int64_t blocks = random_blocks<T>(n, p);
  for (int64_t block = thread_index(); block < blocks; block += thread_count()) {
    write_random_block(y, n, p, block);
  }
}

__global__ void write_base(RandomBase* base, RandomBase value) {
  if (thread_index() == 0) *base = value;
}
void set_base(RandomBase* base, const RandomBase& value) {
  launch(write_base, Grid{1, 1}, base, value);
}

}  // namespace

void random(Tensor& y, const RandomParams& p) {
  const int64_t n = y.numel();
  if (n == 0) return;
  Graph* const graph = Call::stream().capture;
  const RandomBase* base = graph ? graph->random_base(p, n, set_base) : nullptr;
  visit<dtypes::kEvery>(y.dtype(), [&]<class T>() {
    launch(fill_random<T>, grid_for(random_blocks<T>(n, p)), y.data_ptr<T>(), n, p, base);
  });
}

}  // namespace ambit::cuda
