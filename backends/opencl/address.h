// OpenCL memory has handles, not addresses, but tensors need addresses: buffers get artificial
// ones, where x86-64 and AArch64 map no memory, so that a host access raises SIGSEGV.
#pragma once

#include <cstddef>
#include <cstdint>

namespace ambit::opencl {

/// Each buffer of a device has a slot; its addresses begin at address_of_slot().
inline constexpr uintptr_t kFirstAddress = uintptr_t{1} << 52;
inline constexpr int kSlotBits = 33;  // 8 GiB: the maximal size of a buffer
inline constexpr size_t kSlotBytes = size_t{1} << kSlotBits;
inline constexpr size_t kMostSlots = size_t{1} << 17;  // per device

inline void* address_of_slot(size_t slot) {
  return reinterpret_cast<void*>(kFirstAddress + (slot << kSlotBits));
}
inline size_t slot_of(const void* address) {
  return (reinterpret_cast<uintptr_t>(address) - kFirstAddress) >> kSlotBits;
}
inline size_t offset_in_slot(const void* address) {
  return (reinterpret_cast<uintptr_t>(address) - kFirstAddress) & (kSlotBytes - 1);
}

}  // namespace ambit::opencl
