// c10::cuda::CUDACachingAllocator: its functions for all devices named "cuda".
#pragma once

#include <ambit/memory.h>
#include <c10/cuda/CUDAStream.h>

namespace ambit::cuda::CUDACachingAllocator {

/// Release cached memory that no tensor uses.
inline void emptyCache() {
  for (int i = 0; i < device_count(); ++i) empty_cache(i);
}

}  // namespace ambit::cuda::CUDACachingAllocator
