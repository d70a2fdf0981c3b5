// Statistics and cache of device memory.
#pragma once

#include <ambit/device.h>

#include <cstddef>
#include <string>

namespace ambit {

/// Statistics of a device's allocator, in bytes.
struct MemoryStats {
  size_t in_use = 0;              ///< held by tensors
  size_t peak_in_use = 0;         ///< maximum of in_use
  size_t cached = 0;              ///< free, kept for reuse, with unused parts of tensors' blocks
  size_t system_allocations = 0;  ///< calls of the system's allocator (a count, not bytes)
  size_t allocated = 0;           ///< total ever given to tensors, freed or not
};

/// Return a device's allocator statistics. Errors: BackendError if the device does not exist.
AMBIT_API MemoryStats memory_stats(Device device);
/// Return cached memory to the system, except unused parts of blocks that tensors hold.
AMBIT_API void empty_cache(Device device);

namespace cuda {
/// The function for Device(kCUDA, index); -1 is cuda:0, or the device of a DeviceGuard.
/// @{
inline void synchronize(int index = -1) { ambit::synchronize(Device(kCUDA, index)); }
inline MemoryStats memory_stats(int index = -1) {
  return ambit::memory_stats(Device(kCUDA, index));
}
inline void empty_cache(int index = -1) { ambit::empty_cache(Device(kCUDA, index)); }
/// @}
}  // namespace cuda

}  // namespace ambit
