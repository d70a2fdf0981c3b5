// CUDA's device code on the host, for tests of what kernels compute: included before a .cu file
// that is compiled as C++. The threads of a block are contexts that take turns and switch where
// they wait for each other; blocks run one after the other, the last first, since none may count on
// another. Not here: memory that differs from the host's, and races.
#pragma once

#include <ambit/tensor.h>
#include <ucontext.h>
#include "backends/cuda/driver/fault.h"
#include "backends/cuda/runtime/launch.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <type_traits>
#include <vector>

#define __global__
#define __device__
#define __shared__ static
#define __grid_constant__

struct BlockSize {
  unsigned x;
};
inline BlockSize threadIdx, blockIdx, blockDim, gridDim;

/// Where threads wait for each other.
struct HostBarrier {
  void wait();
  unsigned expected, arrived = 0, generation = 0;
};

/// The block at work.
class HostBlock {
 public:
  static constexpr unsigned kWarp = 32;
  static HostBlock* current;

  HostBlock(unsigned threads, std::function<void()> kernel);
  void run();
  /// Let the other threads go on.
  void yield();
  HostBarrier all;
  std::vector<HostBarrier> warps;

 private:
  static void enter();
  struct Thread {
    ucontext_t context;
    bool finished = false;
  };
  std::function<void()> kernel_;
  ucontext_t scheduler_;
  std::vector<Thread> threads_;
};

inline void __syncthreads() { HostBlock::current->all.wait(); }

template <class T>
T __shfl_xor_sync(unsigned, T v, int lanes) {
  static T values[ambit::cuda::kThreads];
  HostBarrier& warp = HostBlock::current->warps[threadIdx.x / HostBlock::kWarp];
  values[threadIdx.x] = v;
  warp.wait();
  const T other = values[threadIdx.x ^ static_cast<unsigned>(lanes)];
  warp.wait();
  return other;
}

// Threads take turns only where they wait, so that nothing comes between.
template <class T>
T atomicAdd(T* p, T v) {
  const T before = *p;
  *p = before + v;
  return before;
}
template <class T>
T atomicMax(T* p, T v) {
  const T before = *p;
  *p = before < v ? v : before;
  return before;
}
template <class T>
T atomicCAS(T* p, std::type_identity_t<T> expected, std::type_identity_t<T> v) {
  const T before = *p;
  if (before == expected) *p = v;
  return before;
}

using std::fmax;
// Of floats CUDA's take the number where the other operand is NaN.
template <class A, class B>
std::common_type_t<A, B> min(A a, B b) {
  if constexpr (std::is_floating_point_v<std::common_type_t<A, B>>) return std::fmin(a, b);
  return b < a ? b : a;
}
template <class A, class B>
std::common_type_t<A, B> max(A a, B b) {
  if constexpr (std::is_floating_point_v<std::common_type_t<A, B>>) return std::fmax(a, b);
  return a < b ? b : a;
}

namespace ambit::cuda {

inline int64_t thread_index() { return int64_t{blockIdx.x} * blockDim.x + threadIdx.x; }
inline int64_t thread_count() { return int64_t{gridDim.x} * blockDim.x; }

template <class... Parameters>
void launch(void (*kernel)(Parameters...), Grid grid, std::type_identity_t<Parameters>... args) {
  gridDim = {grid.blocks};
  blockDim = {grid.threads};
  for (unsigned i = grid.blocks; i-- > 0;) {
    blockIdx = {i};
    HostBlock(grid.threads, [&] { kernel(args...); }).run();
  }
}

/// In place of call.h: a GPU of a few processors, whose kernels' faults the test reads.
struct Call {
  inline static Fault fault{};
  struct Faults {
    FaultSink sink(const char* op) const { return {&fault, op}; }
  };
  struct Properties {
    int multiProcessorCount = 3;
  };
  struct Gpu {
    Properties properties() const { return {}; }
    Faults faults() const { return {}; }
  };
  struct Stream {
    Gpu gpu;
  };
  static Stream stream() { return {}; }
  static const char* op() { return "kernel"; }
};

}  // namespace ambit::cuda
