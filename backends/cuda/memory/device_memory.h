// Memory of one GPU from the driver, below the caching allocator.
#pragma once

#include <ambit/backend/caching_allocator.h>

namespace ambit::cuda {

/// Memory of the current GPU.
class DeviceMemory final : public RawMemory {
 public:
  /// Return null if the GPU has too little memory. Errors: BackendError for any other failure.
  void* allocate(size_t bytes) override;
  /// Wait for all work of the GPU, then free. No-op after the driver's shutdown.
  void free(void* p, size_t bytes) noexcept override;
  size_t free_bytes() override;
};

}  // namespace ambit::cuda
