// Random fills. The numbers themselves are philox.h's, the same on every backend.
#include <ambit/philox.h>

#include "kernels.h"
#include "launch.h"

namespace ambit::cuda {
namespace {

// y [n]. One thread makes all numbers of one block of the generator.
template <class T>
__global__ void random_kernel(T* y, int64_t n, RandomParams p) {
  const auto lanes = static_cast<int64_t>(philox::elements_per_block<T>(p.kind));
  for (int64_t block = thread_index(); block * lanes < n; block += thread_count()) {
    const philox::Block words = philox::generate(p.seed, p.offset + static_cast<uint64_t>(block));
    for (int64_t lane = 0; lane < lanes && block * lanes + lane < n; ++lane) {
      y[block * lanes + lane] = philox::from_block<T>(p, words, static_cast<uint64_t>(lane));
    }
  }
}

}  // namespace

void random(Tensor& y, const RandomParams& p) {
  const int64_t n = y.numel();
  visit(y.dtype(),
        [&]<class T>() { launch(random_kernel<T>, grid_for(n / 2), y.data_ptr<T>(), n, p); });
}

}  // namespace ambit::cuda
