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

/// libtorch's names for device("cuda", index).
namespace cuda {
inline void synchronize(int index = 0) {
  ambit::synchronize(Device("cuda:" + std::to_string(index)));
}
inline MemoryStats memory_stats(int index = 0) {
  return ambit::memory_stats(Device("cuda:" + std::to_string(index)));
}
inline void empty_cache(int index = 0) {
  ambit::empty_cache(Device("cuda:" + std::to_string(index)));
}
}  // namespace cuda

}  // namespace ambit
