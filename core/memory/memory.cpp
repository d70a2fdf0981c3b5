#include <ambit/backend/registry.h>
#include <ambit/memory.h>

#include "core/devices/backend_call.h"

namespace ambit {

MemoryStats memory_stats(Device device) {
  const Backend& backend = usable_backend(device);
  return call_backend(device, "memory_stats()",
                      [&] { return backend.memory_stats(device.index()); });
}

void empty_cache(Device device) {
  Backend& backend = usable_backend(device);
  call_backend(device, "empty_cache()", [&] { backend.empty_cache(device.index()); });
}

}  // namespace ambit
