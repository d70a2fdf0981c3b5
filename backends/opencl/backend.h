// All OpenCL devices of the machine.
#pragma once

#include <ambit/backend/backend.h>

#include "device.h"

namespace ambit::opencl {

class OpenClBackend final : public Backend {
 public:
  std::string name() const override { return "opencl"; }
  int device_count() const noexcept override;
  std::string reason_for_none() const override { return opencl::reason_for_none(); }
  DeviceProperties properties(int index) const override;
  /// Return true if a device is a GPU or an accelerator; PoCL runs on the host's cores.
  bool is_accelerator() const override;

  void* allocate(int index, size_t bytes) override;
  void free(int index, void* p, size_t bytes) noexcept override;
  MemoryStats memory_stats(int index) const override;
  void empty_cache(int index) override;

  void copy(int to_index, void* to, int from_index, const void* from, size_t bytes) override;
  void copy_from_host(int index, void* to, const void* host, size_t bytes, bool) override;
  void copy_to_host(int index, void* host, const void* from, size_t bytes, bool) override;
  void synchronize(int index) override;
  std::unique_ptr<TimeMark> mark_time(int index) override;
};

}  // namespace ambit::opencl
