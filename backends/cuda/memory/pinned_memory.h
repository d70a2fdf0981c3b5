// Pinned host memory and the fences of CUDA streams: what PinnedAllocator works on.
#pragma once

#include "backends/cuda/driver/stream.h"
#include "pinned_allocator.h"

namespace ambit::cuda {

/// The pinned memory that all GPUs share; leaked, as tensors in globals may hold some.
PinnedAllocator& pinned_allocator();

/// Return a fence behind the work that the stream holds now. Errors: BackendError.
std::unique_ptr<Fence> fence_behind(const GpuStream& stream);

/// Whether the GPU reads and writes the memory while the host goes on: pinned by anybody.
bool is_page_locked(const void* host);

}  // namespace ambit::cuda
