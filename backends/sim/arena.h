// The memory of one simulated device. The addresses that tensors hold may never be followed, not
// even while kernels run; the device's thread uses a second mapping of the same bytes, which lies
// at a fixed distance from the first. The idea is PyTorch's openreg, which changes the protection
// around each kernel instead, so that another thread's reads slip through.
#pragma once

#include <ambit/backend/caching_allocator.h>

#include <atomic>
#include <cstddef>
#include <map>

#include "queue.h"

namespace ambit::sim {

/// Addresses of one device, reserved, not used: 64 GiB.
inline constexpr size_t kArenaBytes = size_t{64} << 30;

/// Return where the device's thread finds the bytes at a public address. Null stays null.
inline void* device_view(const void* address) {
  if (!address) return nullptr;
  return static_cast<char*>(const_cast<void*>(address)) + kArenaBytes;
}

/// Mapped when the first memory is asked for, and for ever, as the backend is leaked.
class Arena final : public RawMemory {
 public:
  /// `device` ("sim:0") must stay. Memory goes back to the system only when `queue` is empty.
  Arena(const char* device, Queue& queue) : device_(device), queue_(queue) {}

  void* allocate(size_t bytes) override;
  void free(void* p, size_t bytes) noexcept override;
  size_t free_bytes() override;

  /// The most that the device gives: what the host has, up to kArenaBytes.
  static size_t capacity();
  void set_limit(size_t bytes) { limit_ = bytes; }
  size_t limit() const { return limit_; }
  /// Whether all these public addresses are the device's.
  bool contains(const void* p, size_t bytes) const;

 private:
  void map();

  const char* const device_;
  Queue& queue_;
  std::atomic<char*> base_ = nullptr;  // asked by other threads than the allocator's, too
  std::map<size_t, size_t> free_;      // offset from base_ -> bytes; neighbours are merged
  size_t used_ = 0;
  std::atomic<size_t> limit_ = capacity();  // set by another thread than the allocator's
};

}  // namespace ambit::sim
