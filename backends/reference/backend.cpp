// Memory and copies of the reference device, in host memory.
#include "backend.h"

#include <algorithm>

namespace ambit::reference {
namespace {

// Not memcpy, whose pointers must not be null even for 0 bytes.
void copy_bytes(void* to, const void* from, size_t bytes) {
  std::copy_n(static_cast<const char*>(from), bytes, static_cast<char*>(to));
}

}  // namespace

DeviceProperties ReferenceBackend::properties(int) const {
  return {.name = "plain loops on the host", .total_memory = HostMemory::total_bytes()};
}

void* ReferenceBackend::allocate(int, size_t bytes) { return allocator_.allocate(bytes); }
void ReferenceBackend::free(int, void* p, size_t bytes) noexcept { allocator_.free(p, bytes); }
MemoryStats ReferenceBackend::memory_stats(int) const { return allocator_.stats(); }
void ReferenceBackend::empty_cache(int) { allocator_.empty_cache(); }

void ReferenceBackend::copy(int, void* to, int, const void* from, size_t bytes) {
  copy_bytes(to, from, bytes);
}
void ReferenceBackend::copy_from_host(int, void* to, const void* host, size_t bytes, bool) {
  copy_bytes(to, host, bytes);
}
void ReferenceBackend::copy_to_host(int, void* host, const void* from, size_t bytes, bool) {
  copy_bytes(host, from, bytes);
}

}  // namespace ambit::reference
