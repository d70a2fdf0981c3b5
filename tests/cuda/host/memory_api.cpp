// CUDA's functions for GPU memory and pinned memory.
#include <ambit/api.h>

#include "api.h"
#include "capture.h"
#include "memory.h"

namespace {

using namespace ambit::cuda::host;

// Larger sizes exceed any address space and are refused without a search for memory.
constexpr size_t kImpossible = size_t{1} << 48;

// Run f(streams) for a call without a stream, which captures may prohibit.
template <class F>
cudaError_t call_unseen(const F& f) {
  return call([&](Streams& all) {
    const cudaError_t prohibited = prohibited_by_captures(all);
    return prohibited == cudaSuccess ? f(all) : prohibited;
  });
}

}  // namespace

extern "C" {

AMBIT_API cudaError_t cudaMalloc(void** p, size_t bytes) {
  return call_unseen([&](Streams&) {
    static uint64_t calls = 0;
    *p = nullptr;
    if (bytes >= kImpossible) return cudaErrorInvalidValue;
    if (++calls == settings().failing_malloc) return cudaErrorMemoryAllocation;
    if (bytes == 0) return cudaSuccess;
    *p = device_memory().allocate(current_device(), bytes);
    return *p ? cudaSuccess : cudaErrorMemoryAllocation;
  });
}

AMBIT_API cudaError_t cudaFree(void* p) {
  return call_unseen([&](Streams& all) {
    if (!p) return cudaSuccess;
    const auto address = reinterpret_cast<uintptr_t>(p);
    if (!device_memory().holds(address)) return cudaErrorInvalidValue;
    all.finish_device(device_memory().device_at(address));
    if (all.sticky() != cudaSuccess) return all.sticky();
    return device_memory().free(p) ? cudaSuccess : cudaErrorInvalidValue;
  });
}

AMBIT_API cudaError_t cudaMemGetInfo(size_t* free, size_t* total) {
  return call([&](Streams&) {
    *free = device_memory().free_bytes(current_device());
    *total = settings().memory_bytes;
    return cudaSuccess;
  });
}

AMBIT_API cudaError_t cudaHostAlloc(void** p, size_t bytes, unsigned) {
  return call_unseen([&](Streams&) {
    *p = bytes < kImpossible ? pinned_memory().allocate(bytes) : nullptr;
    return *p ? cudaSuccess : cudaErrorMemoryAllocation;
  });
}

// Waits like cudaFree, because a copy may still use the memory.
AMBIT_API cudaError_t cudaFreeHost(void* p) {
  return call_unseen([&](Streams& all) {
    if (!p) return cudaSuccess;
    all.finish_device(-1);
    return pinned_memory().free(p) ? cudaSuccess : cudaErrorInvalidValue;
  });
}

AMBIT_API cudaError_t cudaPointerGetAttributes(cudaPointerAttributes* to, const void* p) {
  return call([&](Streams&) {
    *to = cudaPointerAttributes{};
    const auto address = reinterpret_cast<uintptr_t>(p);
    if (const Allocation* a =
            device_memory().holds(address) ? device_memory().find(address) : nullptr) {
      to->type = cudaMemoryTypeDevice;
      to->device = a->device;
      to->devicePointer = const_cast<void*>(p);
    } else if (pinned_memory().holds(address, 1)) {
      to->type = cudaMemoryTypeHost;
      to->device = current_device();
      to->devicePointer = to->hostPointer = const_cast<void*>(p);
    } else {
      to->type = cudaMemoryTypeUnregistered;
      to->device = -1;
      to->hostPointer = const_cast<void*>(p);
    }
    return cudaSuccess;
  });
}
}
