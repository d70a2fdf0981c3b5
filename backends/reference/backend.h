// The device `reference:0`: host memory, allocated and accounted separately from the CPU's.
#pragma once

#include <ambit/backend/backend.h>
#include <ambit/backend/caching_allocator.h>

namespace ambit::reference {

/// One device; kernels run synchronously on the calling thread, so synchronisation is a no-op.
class ReferenceBackend final : public Backend {
 public:
  std::string name() const override { return "reference"; }
  int device_count() const noexcept override { return 1; }
  DeviceProperties properties(int index) const override;
  bool is_accelerator() const override { return false; }
  int32_t dlpack_device_type() const override { return 1; }  // kDLCPU

  void* allocate(int index, size_t bytes) override;
  void free(int index, void* p, size_t bytes) noexcept override;
  MemoryStats memory_stats(int index) const override;
  void empty_cache(int index) override;

  void copy(int to_index, void* to, int from_index, const void* from, size_t bytes) override;
  void copy_from_host(int index, void* to, const void* host, size_t bytes,
                      bool non_blocking) override;
  void copy_to_host(int index, void* host, const void* from, size_t bytes,
                    bool non_blocking) override;

 private:
  HostMemory memory_;
  CachingAllocator allocator_{memory_, "reference:0"};
};

}  // namespace ambit::reference
