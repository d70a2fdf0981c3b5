// Memory of the CPU, from the C library.
#include <ambit/backend/caching_allocator.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdlib>

namespace ambit {
namespace {

constexpr size_t kAlignment = 64;  // a cache line, and the widest vector register
constexpr size_t kHugePage = size_t{2} << 20;

size_t pages_in_bytes(int which) {
  const long pages = sysconf(which), page_bytes = sysconf(_SC_PAGESIZE);
  return pages < 0 || page_bytes < 0 ? 0
                                     : static_cast<size_t>(pages) * static_cast<size_t>(page_bytes);
}

}  // namespace

size_t HostMemory::total_bytes() { return pages_in_bytes(_SC_PHYS_PAGES); }

void* HostMemory::allocate(size_t bytes) {
  if (bytes > total_bytes()) return nullptr;
  const bool large = bytes >= 2 * kHugePage;
  void* p = nullptr;  // and not aligned_alloc(), whose sizes must be multiples of the alignment
  if (::posix_memalign(&p, large ? kHugePage : kAlignment, bytes) != 0) return nullptr;
  // Huge pages, where the system has some: one fault for 512, and as many fewer entries of the
  // table that finds pages. The rest of the block stays in small ones, so that none is wasted.
  if (large) ::madvise(p, bytes / kHugePage * kHugePage, MADV_HUGEPAGE);
  return p;
}

void HostMemory::free(void* p, size_t) noexcept { std::free(p); }

size_t HostMemory::free_bytes() { return pages_in_bytes(_SC_AVPHYS_PAGES); }

}  // namespace ambit
