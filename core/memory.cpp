#include <ambit/error.h>
#include <ambit/memory.h>
#include <ambit/ops/creation.h>
#include <ambit/registry.h>
#include <fmt/format.h>

namespace ambit {

MemoryStats memory_stats(Device device) {
  return usable_backend(device).memory_stats(device.index());
}

void empty_cache(Device device) { usable_backend(device).empty_cache(device.index()); }

Tensor pin_memory(const Tensor& self, Device device) {
  if (!self.is_cpu()) {
    throw BackendError(
        fmt::format("pin_memory: expected a tensor on cpu, got one on {}", self.device().str()));
  }
  const NoGradGuard no_grad;
  Backend& backend = usable_backend(device);
  const size_t bytes = self.nbytes();
  if (bytes == 0) return self.clone();
  const Tensor pinned = from_blob(backend.allocate_pinned(bytes), self.sizes(), self.dtype(),
                                  [&backend, bytes](void* p) { backend.free_pinned(p, bytes); });
  pinned.copy_(self);
  return pinned;
}

}  // namespace ambit
