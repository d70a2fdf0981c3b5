// How many blocks and threads a kernel gets, and the launch itself. Only .cu files can launch; the
// arithmetic is tested on the host, and so is all, where the tests compile them for it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <type_traits>

#if defined(__CUDACC__) || defined(AMBIT_CUDA_ON_HOST)
#include "backends/cuda/driver/error.h"
#include "call.h"
#endif

namespace ambit::cuda {

inline constexpr int kThreads = 256;  // per block: 8 warps, so that 8 blocks fill an SM

/// A launch configuration: at least one block, at most what the x axis of a grid holds.
struct Grid {
  unsigned blocks;
  unsigned threads = kThreads;
};

/// Return enough blocks for n threads, up to `most`: kernels loop over what is beyond.
constexpr Grid grid_for(int64_t n, int64_t most = INT32_MAX) {
  const int64_t blocks = n / kThreads + (n % kThreads != 0);
  return {static_cast<unsigned>(std::clamp<int64_t>(blocks, 1, most))};
}

#if defined(__CUDACC__) || defined(AMBIT_CUDA_ON_HOST)
/// Return the position of this thread in the grid, and the number of threads in it.
__device__ inline int64_t thread_index() { return int64_t{blockIdx.x} * blockDim.x + threadIdx.x; }
__device__ inline int64_t thread_count() { return int64_t{gridDim.x} * blockDim.x; }

/// Queue a kernel on the stream of the call at work.
template <class... Parameters>
void launch(void (*kernel)(Parameters...), Grid grid, std::type_identity_t<Parameters>... args) {
#ifdef __CUDACC__
  kernel<<<grid.blocks, grid.threads, 0, Call::stream().handle>>>(args...);
#else
  host::launch(kernel, grid.blocks, grid.threads, Call::stream().handle, args...);
#endif
  check(cudaGetLastError(), "a kernel launch");
}
#endif

}  // namespace ambit::cuda
