#include "shadow.h"

#include <sys/mman.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "memory.h"
#include "shadow_access.h"

namespace ambit::cuda::host {
namespace {

Cell* map_cells(size_t count) {
  void* p = mmap(nullptr, count * sizeof(Cell), PROT_READ | PROT_WRITE,
                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (p == MAP_FAILED) {
    std::perror("ambit: CUDA on the host: no addresses for what is known of memory");
    std::abort();
  }
  return static_cast<Cell*>(p);
}

// Whole pages are returned to the system, which replaces them by zeros.
void clear(Cell* begin, Cell* end) {
  constexpr uintptr_t kPage = 4096, kMany = 16 * kPage;
  const auto from = reinterpret_cast<uintptr_t>(begin), to = reinterpret_cast<uintptr_t>(end);
  if (to - from < kMany) {
    std::memset(static_cast<void*>(begin), 0, to - from);
    return;
  }
  const uintptr_t first = (from + kPage - 1) / kPage * kPage, last = to / kPage * kPage;
  std::memset(static_cast<void*>(begin), 0, first - from);
  std::memset(reinterpret_cast<void*>(last), 0, to - last);
  madvise(reinterpret_cast<void*>(first), last - first, MADV_DONTNEED);
}

}  // namespace

Region make_region(uintptr_t begin, size_t bytes, bool per_block) {
  begin &= ~uintptr_t{3};
  return {begin, bytes, map_cells(bytes / 4 + 2), map_cells(bytes + 8), per_block};
}

Region& device_region() {
  static auto* const region = new Region(
      make_region(device_memory().begin(), device_memory().bytes(), /*per_block=*/false));
  return *region;
}

// Allocations are aligned, so no word belongs to two.
void clear_shadow(uintptr_t begin, size_t bytes) {
  Region& r = device_region();
  const uintptr_t from = begin - r.begin, to = from + bytes;
  clear(r.words + from / 4, r.words + (to + 3) / 4);
  clear(r.singles + from, r.singles + to);
}

void copy_unwritten(uintptr_t to, uintptr_t from, size_t bytes) {
  Region& r = device_region();
  for (uintptr_t i = 0; i < bytes; ++i) {
    while (i < bytes && (from + i) % 4 == 0 &&
           is_valid(r, r.words[(from + i - r.begin) / 4].write)) {
      i += 4;
    }
    if (i >= bytes || is_written(r, from + i)) continue;
    const uintptr_t at = to + i;
    Cell& word = r.words[(at - r.begin) / 4];
    if (word.write >> stamps::kSerial) {  // its other bytes remain initialised
      const uintptr_t first = at & ~uintptr_t{3};
      for (uintptr_t b = first; b < first + 4; ++b) r.singles[b - r.begin] = {word.write, 0};
      word.write = stamps::kSingles;
    }
    r.singles[at - r.begin].write = 0;
  }
}

void check_range(Access kind, uintptr_t p, size_t bytes) {
  for_access(kind, [&]<Access k>() { access_memory<k>(p, bytes); });
}

}  // namespace ambit::cuda::host
