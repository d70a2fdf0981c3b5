// The memory of all GPUs: one reserved address range, with a part for each. It is inaccessible
// while no work runs, so dereferencing a device pointer on the host gives a SIGSEGV as on a real
// machine. All functions require the runtime's lock.
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

  /// Return memory aligned to 512 bytes and filled with NaN, or null if the GPU has too little.
  /// Addresses are reused as late as possible.
  void* allocate(int device, size_t bytes);
  /// Return false if no allocation starts at p. The contents are overwritten.
  bool free(void* p);
  size_t free_bytes(int device) const;

  bool holds(uintptr_t p) const { return p - begin_ < bytes_; }
  int device_at(uintptr_t p) const { return static_cast<int>((p - begin_) / span_); }
  /// Return the allocation that contains p, or null.
  const Allocation* find(uintptr_t p) const;
  /// Return the allocation before p on the same GPU, or null: the origin of an overrun.
  const Allocation* before(uintptr_t p) const;
  /// Return true if p was in an allocation that has been freed.
  bool was_freed(uintptr_t p) const;
  uintptr_t begin() const { return begin_; }
  size_t bytes() const { return bytes_; }
  size_t span() const { return span_; }  ///< of the address range of one GPU

  /// Makes the memory accessible while an instance exists.
  class Open {
   public:
    Open();
    ~Open();
    Open(const Open&) = delete;
    Open& operator=(const Open&) = delete;
  };

 private:
  uintptr_t place_for(int device, size_t bytes);

  size_t span_, bytes_;  // size of the address range of one GPU, and of all
  uintptr_t begin_;
  int opened_ = 0;
  std::map<uintptr_t, Allocation> live_;
  std::map<uintptr_t, uintptr_t> freed_;  // begin -> end, until the addresses are reused
  std::vector<uintptr_t> next_;           // where to search for free addresses, by GPU
  std::vector<size_t> used_;
};

/// Leaked on purpose: tensors in globals may outlive main.
DeviceMemory& device_memory();

/// Host memory that GPUs can access.
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
