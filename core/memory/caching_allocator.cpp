// The cache of freed blocks: one stack of small blocks for each size class, so that a hit is a pop
// and a free a push, and large_blocks.h for large ones.
#include <ambit/backend/caching_allocator.h>
#include <ambit/error.h>
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <mutex>
#include <utility>

#include "large_blocks.h"
#include "sanitizer.h"

#ifdef AMBIT_ASAN
#include <sanitizer/asan_interface.h>
#endif

namespace ambit {
namespace {

constexpr size_t kSpareCacheBytes = size_t{64} << 20;
constexpr size_t kMostSmallBytes = size_t{1} << 18;
constexpr size_t kPageBytes = 4096;

bool is_large(size_t bytes) { return bytes > kMostSmallBytes; }
size_t large_block_bytes(size_t bytes) {
  return (bytes + kPageBytes - 1) / kPageBytes * kPageBytes;
}

// Each power of two is divided into eight classes: the class is the exponent of (bytes - 1) and the
// three bits after its leading one.
size_t class_of(size_t bytes) {
  const size_t last = bytes - 1;
  if (last < 512) return last / 64;
  const auto exponent = static_cast<size_t>(std::bit_width(last)) - 1;  // >= 9
  return exponent * 8 + (last >> (exponent - 3)) - 72;
}

size_t bytes_of_class(size_t size_class) {
  if (size_class < 8) return (size_class + 1) * 64;
  return (size_class % 8 + 9) << (size_class / 8 + 5);
}

// Poisons cached memory, so that AddressSanitizer detects use after free and writes past the end
// despite the cache.
void watch([[maybe_unused]] const RawMemory& raw, [[maybe_unused]] void* p,
           [[maybe_unused]] size_t used, [[maybe_unused]] size_t block_bytes) {
#ifdef AMBIT_ASAN
  if (!raw.is_host()) return;
  ASAN_UNPOISON_MEMORY_REGION(p, used);
  ASAN_POISON_MEMORY_REGION(static_cast<char*>(p) + used, block_bytes - used);
#endif
}

std::string bytes_text(size_t bytes) {
  constexpr std::array kUnits = {"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  if (bytes < 1024) return fmt::format("{} bytes", bytes);
  size_t unit = 0;
  double value = static_cast<double>(bytes) / 1024;
  while (value >= 1024) {
    value /= 1024;
    ++unit;
  }
  return fmt::format("{} bytes ({:.1f} {})", bytes, value, kUnits[unit]);
}

}  // namespace

RawMemory::~RawMemory() = default;
void* RawMemory::allocate_pages(size_t, void*) { return nullptr; }
void RawMemory::free_pages(void*, size_t) noexcept {}

void throw_out_of_memory(const std::string& device_name, size_t requested, const MemoryStats& stats,
                         size_t free_bytes) {
  throw OutOfMemoryError(
      fmt::format("allocate: expected {} on {}, got out of memory: in use {}, cached {}, free {}",
                  bytes_text(requested), device_name, bytes_text(stats.in_use),
                  bytes_text(stats.cached), bytes_text(free_bytes)));
}

CachingAllocator::CachingAllocator(RawMemory& raw, std::string device_name)
    : raw_(raw), device_name_(std::move(device_name)), large_(std::make_unique<LargeBlocks>()) {}

CachingAllocator::~CachingAllocator() { release_all(); }

void* CachingAllocator::allocate(size_t bytes) {
  const std::lock_guard lock(lock_);
  if (bytes > PTRDIFF_MAX) {
    throw_out_of_memory(device_name_, bytes, stats_, raw_.free_bytes());
  }
  ++requests_;
  const bool large = is_large(bytes);
  const size_t size_class = large ? 0 : class_of(std::max<size_t>(bytes, 1));
  const size_t block_bytes = large ? large_block_bytes(bytes) : bytes_of_class(size_class);
  void* p = large ? large_->allocate(block_bytes, requests_) : classes_[size_class].take(requests_);
  if (!p && large && add_pages(block_bytes)) p = large_->allocate(block_bytes, requests_);
  if (p) {
    stats_.cached -= block_bytes;
  } else {
    p = large ? allocate_segment(bytes, block_bytes) : allocate_from_system(bytes, block_bytes);
  }
  stats_.in_use += block_bytes;
  stats_.allocated += block_bytes;
  stats_.peak_in_use = std::max(stats_.peak_in_use, stats_.in_use);
  watch(raw_, p, bytes, block_bytes);
  return p;
}

// Add pages below the lowest ones. A free block at the bottom is extended to block_bytes; free
// blocks above it are not counted, because they are fragmented.
bool CachingAllocator::add_pages(size_t block_bytes) {
  // allocate() throws for it.
  if (raw_.is_host() && block_bytes > HostMemory::total_bytes()) return false;
  const LargeBlocks::Range lowest = large_->lowest_pages();
  LargeBlocks::Range pages{nullptr, block_bytes - std::min(block_bytes, lowest.bytes)};
  if (lowest.begin) {
    pages.begin = static_cast<char*>(raw_.allocate_pages(pages.bytes, lowest.begin));
  }
  if (!pages.begin) {
    pages.bytes = block_bytes;
    pages.begin = static_cast<char*>(raw_.allocate_pages(pages.bytes, nullptr));
  }
  if (!pages.begin) return false;
  try {
    large_->add_pages(pages, requests_);
  } catch (...) {
    raw_.free_pages(pages.begin, pages.bytes);
    throw;
  }
  ++stats_.system_allocations;
  stats_.cached += pages.bytes;
  watch(raw_, pages.begin, 0, pages.bytes);
  return true;
}

void* CachingAllocator::allocate_segment(size_t bytes, size_t block_bytes) {
  void* p = allocate_from_system(bytes, block_bytes);
  try {
    large_->add_segment({static_cast<char*>(p), block_bytes}, requests_);
  } catch (...) {
    raw_.free(p, block_bytes);
    throw;
  }
  return p;
}

void* CachingAllocator::allocate_from_system(size_t bytes, size_t block_bytes) {
  const MemoryStats before = stats_;
  ++stats_.system_allocations;
  void* p = raw_.allocate(block_bytes);
  if (!p && stats_.cached > 0) {
    release_all();
    ++stats_.system_allocations;
    p = raw_.allocate(block_bytes);
  }
  if (!p) throw_out_of_memory(device_name_, bytes, before, raw_.free_bytes());
  return p;
}

void CachingAllocator::free(void* p, size_t bytes) noexcept {
  const std::lock_guard lock(lock_);
  if (is_large(bytes)) {
    const size_t block_bytes = large_->free_block(p);
    watch(raw_, p, 0, block_bytes);
    stats_.in_use -= block_bytes;
    stats_.cached += block_bytes;
    return trim();
  }
  const size_t size_class = class_of(std::max<size_t>(bytes, 1));
  const size_t block_bytes = bytes_of_class(size_class);
  stats_.in_use -= block_bytes;
  try {
    classes_[size_class].blocks.push_back(p);
  } catch (...) {  // no memory to record the block
    raw_.free(p, block_bytes);
    return;
  }
  watch(raw_, p, 0, block_bytes);
  stats_.cached += block_bytes;
  trim();
}

MemoryStats CachingAllocator::stats() const {
  const std::lock_guard lock(lock_);
  return stats_;
}

void CachingAllocator::empty_cache() {
  const std::lock_guard lock(lock_);
  release_all();
}

void CachingAllocator::release_class(size_t size_class) noexcept {
  std::vector<void*>& blocks = classes_[size_class].blocks;
  const size_t block_bytes = bytes_of_class(size_class);
  for (void* p : blocks) {
    watch(raw_, p, block_bytes, block_bytes);
    raw_.free(p, block_bytes);
    stats_.cached -= block_bytes;
  }
  blocks.clear();
}

bool CachingAllocator::release_oldest_large() noexcept {
  const auto [range, has_pages, last_request] = large_->oldest_free();
  if (!range.begin) return false;
  large_->remove(range);
  watch(raw_, range.begin, range.bytes, range.bytes);
  has_pages ? raw_.free_pages(range.begin, range.bytes) : raw_.free(range.begin, range.bytes);
  stats_.cached -= range.bytes;
  return true;
}

void CachingAllocator::release_all() noexcept {
  for (size_t i = 0; i < kClasses; ++i) release_class(i);
  while (release_oldest_large()) {
  }
}

void CachingAllocator::trim() noexcept {
  while (stats_.in_use + stats_.cached > kSpareCacheBytes + 2 * stats_.peak_in_use) {
    size_t oldest = kClasses;
    for (size_t i = 0; i < kClasses; ++i) {
      if (classes_[i].blocks.empty()) continue;
      if (oldest == kClasses || classes_[i].last_request < classes_[oldest].last_request) {
        oldest = i;
      }
    }
    const LargeBlocks::Oldest large = large_->oldest_free();
    if (large.range.begin &&
        (oldest == kClasses || large.last_request < classes_[oldest].last_request)) {
      release_oldest_large();
    } else if (oldest < kClasses) {
      release_class(oldest);
    } else {
      return;  // only parts of blocks in use remain
    }
  }
}

}  // namespace ambit
