#include "device_memory.h"

#include "backends/cuda/driver/counters.h"
#include "backends/cuda/driver/error.h"

namespace ambit::cuda {

void* DeviceMemory::allocate(size_t bytes) {
  void* p = nullptr;
  count(counted_allocations);
  const cudaError_t status = cudaMalloc(&p, bytes);
  // Some drivers report cudaErrorInvalidValue for sizes beyond any GPU's memory.
  if (status == cudaErrorMemoryAllocation || status == cudaErrorInvalidValue) {
    static_cast<void>(cudaGetLastError());  // reported by returning null
    return nullptr;
  }
  check(status, "cudaMalloc");
  return p;
}

// cudaFree waits for all work on the GPU.
void DeviceMemory::free(void* p, size_t) noexcept { static_cast<void>(cudaFree(p)); }

size_t DeviceMemory::free_bytes() {
  size_t free = 0, total = 0;
  return cudaMemGetInfo(&free, &total) == cudaSuccess ? free : 0;
}

}  // namespace ambit::cuda
