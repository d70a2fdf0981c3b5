#include "backend.h"

#include <cstring>

#include "backends/cpu/layout/channels_last.h"
#include "properties.h"

namespace ambit::cpu {

CpuBackend::CpuBackend() : allocator_(memory_, "cpu") {}

std::string CpuBackend::name() const { return "cpu"; }

int CpuBackend::device_count() const noexcept { return 1; }

DeviceProperties CpuBackend::properties(int) const { return device_properties(); }

void* CpuBackend::allocate(int, size_t bytes) { return allocator_.allocate(bytes); }

void CpuBackend::free(int, void* p, size_t bytes) noexcept { allocator_.free(p, bytes); }

MemoryStats CpuBackend::memory_stats(int) const { return allocator_.stats(); }

void CpuBackend::empty_cache(int) { allocator_.empty_cache(); }

void CpuBackend::copy(int, void* to, int, const void* from, size_t bytes) {
  std::memmove(to, from, bytes);
}

void CpuBackend::copy_from_host(int, void* to, const void* host, size_t bytes, bool) {
  std::memmove(to, host, bytes);
}

void CpuBackend::copy_to_host(int, void* host, const void* from, size_t bytes, bool) {
  std::memmove(host, from, bytes);
}

void CpuBackend::to_row_major(int, void* to, const void* from, size_t,
                              const PhysicalLayout& layout) {
  channels_last_to_row_major(to, from, layout);
}

}  // namespace ambit::cpu
