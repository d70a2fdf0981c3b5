// Pinned host memory and CUDA fences for PinnedAllocator.
#pragma once

#include "backends/cuda/driver/stream.h"
#include "pinned_allocator.h"

namespace ambit::cuda {

/// Return the allocator that all GPUs share; leaked, because tensors in globals may use its memory.
PinnedAllocator& pinned_allocator();

/// Return a fence after the work now queued on the stream. Errors: BackendError.
std::unique_ptr<Fence> fence_after(const GpuStream& stream);

/// Return true if the memory is pinned, by any library, so that copies are asynchronous.
bool is_page_locked(const void* host);

}  // namespace ambit::cuda
