// Memory of devices, for those who watch or tune it: statistics and the cache.
#pragma once

#include <ambit/device.h>

#include <cstddef>
#include <string>

namespace ambit {

/// Bytes, from a device's allocator.
struct MemoryStats {
  size_t in_use = 0;              ///< held by tensors
  size_t peak_in_use = 0;         ///< the most ever held by tensors
  size_t cached = 0;              ///< free, kept for reuse; also rests beside what tensors hold
  size_t system_allocations = 0;  ///< calls (not bytes) that reached the system's allocator
  size_t allocated = 0;           ///< all that tensors ever got, freed or not
};

/// Return what the device's allocator holds. Errors: BackendError when the device does not exist.
AMBIT_API MemoryStats memory_stats(Device device);
/// Give the system back what the device's allocator keeps, but rests beside what tensors hold.
AMBIT_API void empty_cache(Device device);

/// libtorch's names for Device(kCUDA, index): -1 is cuda:0, or what a DeviceGuard has chosen.
namespace cuda {
inline void synchronize(int index = -1) { ambit::synchronize(Device(kCUDA, index)); }
inline MemoryStats memory_stats(int index = -1) {
  return ambit::memory_stats(Device(kCUDA, index));
}
inline void empty_cache(int index = -1) { ambit::empty_cache(Device(kCUDA, index)); }
}  // namespace cuda

}  // namespace ambit
