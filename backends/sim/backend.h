// The simulated devices of one name.
#pragma once

#include <ambit/backend/backend.h>
#include <ambit/detail/check.h>

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "requests.h"
#include "simulated_device.h"

namespace ambit::sim {

/// Kernels and copies are queued and run later. Only pinned host memory is accessed asynchronously,
/// as with CUDA: other memory may be freed meanwhile, so `non_blocking` has no effect on it.
class SimBackend : public Backend {
 public:
  explicit SimBackend(const Request& request);

  SimulatedDevice& device(int index) { return *devices_[static_cast<size_t>(index)]; }

  std::string name() const override { return name_; }
  int device_count() const noexcept override { return static_cast<int>(devices_.size()); }
  DeviceProperties properties(int index) const override;
  /// True if $AMBIT_SIM gives it another name, such as cuda: it then acts as that accelerator.
  bool is_accelerator() const override { return name_ != "sim"; }

  void* allocate(int index, size_t bytes) override;
  void free(int index, void* p, size_t bytes) noexcept override;
  MemoryStats memory_stats(int index) const override;
  void empty_cache(int index) override;

  void copy(int to_index, void* to, int from_index, const void* from, size_t bytes) override;
  void copy_from_host(int index, void* to, const void* host, size_t bytes,
                      bool non_blocking) override;
  void copy_to_host(int index, void* host, const void* from, size_t bytes,
                    bool non_blocking) override;
  void wait_for_copies(int index, const void* host) override;
  void synchronize(int index) override;
  std::unique_ptr<TimeMark> mark_time(int index) override;
  void* allocate_pinned(size_t bytes) override;
  void free_pinned(void* p, size_t bytes) noexcept override;
  bool is_pinned(const void* host, size_t bytes) override;
  void borrow(int index, void* p, size_t bytes, std::optional<int64_t> stream) override;
  void end_borrow(int index, void* p, size_t bytes) noexcept override;

 private:
  Device named(int index) const;

  const std::string name_;
  const CheckLibrary* const check_ = check_library();  // null: nothing is recorded
  std::vector<std::unique_ptr<SimulatedDevice>> devices_;
  std::mutex pinned_mutex_;               // guards the members below
  std::map<const char*, size_t> pinned_;  // begin -> bytes
};

}  // namespace ambit::sim
