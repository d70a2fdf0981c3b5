// Memory of one GPU from the driver, below the cache.
#pragma once

#include <ambit/backend/caching_allocator.h>

namespace ambit::cuda {

/// That of the GPU which is current.
class DeviceMemory final : public RawMemory {
 public:
  /// Null when the GPU has too little. Errors: BackendError for any other reason.
  void* allocate(size_t bytes) override;
  /// Wait for all work of the GPU first. After the driver's shutdown nothing happens.
  void free(void* p, size_t bytes) noexcept override;
  size_t free_bytes() override;
};

}  // namespace ambit::cuda
