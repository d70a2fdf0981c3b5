// The memory of all GPUs: one reservation of addresses, a part for each. Where no work runs it
// cannot be touched, so that a host that follows a device pointer gets the SIGSEGV of a real
// machine. Requires of all functions: the runtime's lock.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

namespace ambit::cuda::host {

struct Allocation {
  uintptr_t begin;
  size_t bytes;
  int device;
};

class DeviceMemory {
 public:
  DeviceMemory();

  /// Return fresh memory, aligned to 512 bytes and full of NaN, or null when the GPU has too
  /// little. Addresses come around again late.
  void* allocate(int device, size_t bytes);
  /// Return false where no allocation begins. What was there is overwritten.
  bool free(void* p);
  size_t free_bytes(int device) const;

  bool holds(uintptr_t p) const { return p - begin_ < bytes_; }
  int device_at(uintptr_t p) const { return static_cast<int>((p - begin_) / span_); }
  /// Return the allocation that p lies in, or null.
  const Allocation* find(uintptr_t p) const;
  /// Return the one before p, in the same GPU, or null: what an overrun has left.
  const Allocation* before(uintptr_t p) const;
  /// Whether p was part of an allocation, and is no more.
  bool was_freed(uintptr_t p) const;
  uintptr_t begin() const { return begin_; }
  size_t bytes() const { return bytes_; }
  size_t span() const { return span_; }  ///< of the addresses of a GPU

  /// While one exists the memory can be read and written.
  class Open {
   public:
    Open();
    ~Open();
    Open(const Open&) = delete;
    Open& operator=(const Open&) = delete;
  };

 private:
  uintptr_t place_for(int device, size_t bytes);

  size_t span_, bytes_;  // addresses of one GPU, and of all
  uintptr_t begin_;
  int opened_ = 0;
  std::map<uintptr_t, Allocation> live_;
  std::map<uintptr_t, uintptr_t> freed_;  // begin -> end, until the addresses come again
  std::vector<uintptr_t> next_;           // where to look for a place, by GPU
  std::vector<size_t> used_;
};

/// Leaked: tensors in globals may outlive main.
DeviceMemory& device_memory();

/// Host memory that GPUs reach.
class PinnedMemory {
 public:
  void* allocate(size_t bytes);
  bool free(void* p);
  bool holds(uintptr_t p, size_t bytes) const;

 private:
  std::map<uintptr_t, size_t> live_;
};
PinnedMemory& pinned_memory();

}  // namespace ambit::cuda::host
