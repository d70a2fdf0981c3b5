#include "pinned_memory.h"

#include "backends/cuda/driver/counters.h"
#include "backends/cuda/driver/error.h"

namespace ambit::cuda {
namespace {

class PinnedMemory final : public RawMemory {
 public:
  void* allocate(size_t bytes) override {
    void* p = nullptr;
    count(counted_allocations);
    const cudaError_t status = cudaHostAlloc(&p, bytes, cudaHostAllocPortable);
    // Some drivers report cudaErrorInvalidValue for sizes beyond any machine's memory.
    if (status == cudaErrorMemoryAllocation || status == cudaErrorInvalidValue) {
      static_cast<void>(cudaGetLastError());  // reported by returning null
      return nullptr;
    }
    check(status, "cudaHostAlloc");
    return p;
  }
  void free(void* p, size_t) noexcept override { static_cast<void>(cudaFreeHost(p)); }
  size_t free_bytes() override { return HostMemory().free_bytes(); }
};

class StreamFence final : public Fence {
 public:
  explicit StreamFence(const GpuStream& stream) {
    check(cudaEventCreateWithFlags(&event_, cudaEventDisableTiming), "cudaEventCreateWithFlags");
    check(cudaEventRecord(event_, stream.handle), "cudaEventRecord");
  }
  ~StreamFence() override { static_cast<void>(cudaEventDestroy(event_)); }
  StreamFence(const StreamFence&) = delete;
  StreamFence& operator=(const StreamFence&) = delete;

  // If the GPU has failed, nothing uses the memory either.
  bool passed() noexcept override { return cudaEventQuery(event_) != cudaErrorNotReady; }
  void wait() override {
    count(counted_waits);
    check(cudaEventSynchronize(event_), "cudaEventSynchronize");
  }

 private:
  cudaEvent_t event_ = nullptr;
};

}  // namespace

PinnedAllocator& pinned_allocator() {
  static auto* const allocator = new PinnedAllocator(*new PinnedMemory);
  return *allocator;
}

std::unique_ptr<Fence> fence_after(const GpuStream& stream) {
  return std::make_unique<StreamFence>(stream);
}

bool is_page_locked(const void* host) {
  cudaPointerAttributes attributes{};
  check(cudaPointerGetAttributes(&attributes, host), "cudaPointerGetAttributes");
  return attributes.type != cudaMemoryTypeUnregistered;
}

}  // namespace ambit::cuda
