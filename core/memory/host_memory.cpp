// Memory of the CPU: small blocks from the C library, pages from the system.
#include <ambit/backend/caching_allocator.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <cstdlib>

namespace ambit {
namespace {

constexpr size_t kAlignment = 64;  // a cache line, and the widest vector register
constexpr size_t kPage = 4096;     // blocks are multiples of it
constexpr size_t kHugePage = size_t{2} << 20;

size_t pages_in_bytes(int which) {
  const long pages = sysconf(which), page_bytes = sysconf(_SC_PAGESIZE);
  return pages < 0 || page_bytes < 0 ? 0
                                     : static_cast<size_t>(pages) * static_cast<size_t>(page_bytes);
}

// Use huge pages where possible: one page fault instead of 512, and fewer TLB entries. The
// unaligned ends use small pages, so that no memory is wasted.
void* prefer_huge_pages(void* p, size_t bytes) {
  if (bytes < 2 * kHugePage) return p;
  auto* begin = static_cast<char*>(p);
  const size_t before = (kHugePage - reinterpret_cast<uintptr_t>(p) % kHugePage) % kHugePage;
  ::madvise(begin + before, (bytes - before) / kHugePage * kHugePage, MADV_HUGEPAGE);
  return p;
}

void* map(void* at, size_t bytes, int flags) {
  void* p = ::mmap(at, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | flags, -1, 0);
  return p == MAP_FAILED ? nullptr : p;
}

// Map at exactly `at`; null if that range is in use.
void* map_at(char* at, size_t bytes) {
  void* p = map(at, bytes, MAP_FIXED_NOREPLACE);
  if (!p || p == at) return p;
  ::munmap(p, bytes);  // Linux before 4.17 treats the address as a hint
  return nullptr;
}

// Map far below the system's default position, where later mappings would block growth downwards.
// Successive calls use different distances, so that several allocators do not collide.
void* map_far_from_others(size_t bytes) {
  static std::atomic<uintptr_t> runs{0};
  const uintptr_t distance = (1 + runs++ % 8) * 4 * HostMemory::total_bytes();
  auto* p = static_cast<char*>(map(nullptr, bytes, 0));
  if (!p || reinterpret_cast<uintptr_t>(p) <= distance) return p;
  void* far = map_at(p - distance, bytes);
  if (!far) return p;
  ::munmap(p, bytes);
  return far;
}

// Map pages that end at a huge-page boundary.
void* map_pages(size_t bytes) {
  auto* p = static_cast<char*>(map_far_from_others(bytes + kHugePage));
  if (!p) return nullptr;
  const size_t above = (reinterpret_cast<uintptr_t>(p) + bytes) % kHugePage,
               below = (kHugePage - above) % kHugePage;
  if (below > 0) ::munmap(p, below);
  if (below < kHugePage) ::munmap(p + below + bytes, kHugePage - below);
  return p + below;
}

}  // namespace

size_t HostMemory::total_bytes() { return pages_in_bytes(_SC_PHYS_PAGES); }

void* HostMemory::allocate(size_t bytes) {
  if (bytes > total_bytes()) return nullptr;
  const bool large = bytes >= 2 * kHugePage;
  void* p = nullptr;  // not aligned_alloc(), whose sizes must be multiples of the alignment
  if (::posix_memalign(&p, large ? kHugePage : kAlignment, bytes) != 0) return nullptr;
  return prefer_huge_pages(p, bytes);
}

void HostMemory::free(void* p, size_t) noexcept { std::free(p); }

void* HostMemory::allocate_pages(size_t bytes, void* end) {
  static const bool fits = ::sysconf(_SC_PAGESIZE) == long{kPage};
  if (!fits || bytes > total_bytes()) return nullptr;
  void* p = end ? map_at(static_cast<char*>(end) - bytes, bytes) : map_pages(bytes);
  return p ? prefer_huge_pages(p, bytes) : nullptr;
}

void HostMemory::free_pages(void* p, size_t bytes) noexcept { ::munmap(p, bytes); }

size_t HostMemory::free_bytes() { return pages_in_bytes(_SC_AVPHYS_PAGES); }

}  // namespace ambit
