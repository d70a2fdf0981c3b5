// The memory of a simulated device. Public addresses, which tensors hold, must never be
// dereferenced, not even while kernels run; the device's thread uses a second mapping of the same
// bytes at a fixed distance. PyTorch's openreg instead changes the protection around each kernel,
// so that it misses accesses of other threads.
#pragma once

#include <ambit/backend/caching_allocator.h>

#include <atomic>
#include <cstddef>
#include <map>

#include "queue.h"

namespace ambit::sim {

/// Reserved address space of one device: 64 GiB.
inline constexpr size_t kArenaBytes = size_t{64} << 30;

/// Return the address at which the device's thread accesses a public address. Null stays null.
inline void* device_view(const void* address) {
  if (!address) return nullptr;
  return static_cast<char*>(const_cast<void*>(address)) + kArenaBytes;
}

/// Mapped at the first allocation, and never unmapped, as the backend is leaked.
class Arena final : public RawMemory {
 public:
  /// `device` ("sim:0") must have static lifetime. Memory is returned only once `queue` is empty.
  Arena(const char* device, Queue& queue) : device_(device), queue_(queue) {}

  void* allocate(size_t bytes) override;
  void free(void* p, size_t bytes) noexcept override;
  size_t free_bytes() override;

  /// Return the maximal memory of the device: that of the host, up to kArenaBytes.
  static size_t capacity();
  void set_limit(size_t bytes) { limit_ = bytes; }
  size_t limit() const { return limit_; }
  /// Return true if the whole public range belongs to the device.
  bool contains(const void* p, size_t bytes) const;

 private:
  void map();

  const char* const device_;
  Queue& queue_;
  std::atomic<char*> base_ = nullptr;  // also read by threads other than the allocator's
  std::map<size_t, size_t> free_;      // offset from base_ -> bytes; adjacent ranges are merged
  size_t used_ = 0;
  std::atomic<size_t> limit_ = capacity();  // set by threads other than the allocator's
};

}  // namespace ambit::sim
