// Memory of devices, for those who watch or tune it: statistics, the cache, and host memory that
// devices copy fastest from.
#pragma once

#include <ambit/backend.h>
#include <ambit/tensor.h>

namespace ambit {

/// Return what the device's allocator holds. Errors: BackendError when the device does not exist.
AMBIT_API MemoryStats memory_stats(Device device);
/// Give the memory that the device's allocator keeps for reuse back to the system.
AMBIT_API void empty_cache(Device device);
/// Return a copy of a cpu tensor in host memory from which `device` copies with
/// `to(device, /*non_blocking=*/true)` while the host goes on; the memory is not reused before such
/// a copy is done. Errors: BackendError for a tensor that is not on the cpu.
AMBIT_API Tensor pin_memory(const Tensor& self, Device device = best_device());

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
