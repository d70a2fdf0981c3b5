// Grid sizes and kernel launches. Only .cu files can launch; the tests also compile everything for
// the host.
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

/// A launch configuration: at least one block, at most the maximum of a grid's x dimension.
struct Grid {
  unsigned blocks;
  unsigned threads = kThreads;
};

/// Return enough blocks for n threads, at most `most`: kernels loop over the rest.
constexpr Grid grid_for(int64_t n, int64_t most = INT32_MAX) {
  const int64_t blocks = n / kThreads + (n % kThreads != 0);
  return {static_cast<unsigned>(std::clamp<int64_t>(blocks, 1, most))};
}

#if defined(__CUDACC__) || defined(AMBIT_CUDA_ON_HOST)
/// Return the position of this thread in the grid, and the number of threads in it.
__device__ inline int64_t thread_index() { return int64_t{blockIdx.x} * blockDim.x + threadIdx.x; }
__device__ inline int64_t thread_count() { return int64_t{gridDim.x} * blockDim.x; }

/// Launch a kernel on the stream of the current call.
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
