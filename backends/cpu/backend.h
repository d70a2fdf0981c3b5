// The CPU backend: one device, with host memory from a caching allocator.
#pragma once

#include <ambit/backend/backend.h>
#include <ambit/backend/caching_allocator.h>

namespace ambit::cpu {

class CpuBackend final : public Backend {
 public:
  CpuBackend();

  std::string name() const override;
  int device_count() const noexcept override;
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
  void to_row_major(int index, void* to, const void* from, size_t bytes,
                    const PhysicalLayout& layout) override;

 private:
  HostMemory memory_;
  CachingAllocator allocator_;
};

}  // namespace ambit::cpu
