#include <ambit/backend/registry.h>
#include <ambit/memory.h>

namespace ambit {

MemoryStats memory_stats(Device device) {
  return usable_backend(device).memory_stats(device.index());
}

void empty_cache(Device device) { usable_backend(device).empty_cache(device.index()); }

}  // namespace ambit
