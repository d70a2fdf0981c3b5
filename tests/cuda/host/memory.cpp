#include "memory.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "settings.h"
#include "shadow.h"

namespace ambit::cuda::host {
namespace {

constexpr size_t kAlignment = 512;
// This byte pattern is NaN as float32 and float64, a large number as an integer, and an invalid
// value as bool.
constexpr int kFresh = 0xff, kFreed = 0xfb;

size_t round_up(size_t bytes, size_t unit) { return (bytes + unit - 1) / unit * unit; }

}  // namespace

// Twice as many addresses as memory, so that freed addresses are not reused at once.
DeviceMemory::DeviceMemory()
    : span_(round_up(2 * settings().memory_bytes, size_t{2} << 20) + (size_t{2} << 20)),
      bytes_(span_ * static_cast<size_t>(std::max(settings().gpus, 1))) {
  constexpr size_t kHugePage = size_t{2} << 20;
  void* p = mmap(nullptr, bytes_ + kHugePage, PROT_NONE,
                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (p == MAP_FAILED) {
    std::perror("ambit: CUDA on the host: no addresses for the GPUs' memory");
    std::abort();
  }
  begin_ = round_up(reinterpret_cast<uintptr_t>(p), kHugePage);
  // The protection changes often, which is faster for large pages.
  madvise(reinterpret_cast<void*>(begin_), bytes_, MADV_HUGEPAGE);
  for (size_t i = 0; i < bytes_ / span_; ++i) {
    next_.push_back(begin_ + i * span_);
    used_.push_back(0);
  }
}

// Find the first gap after the last allocation; at the end of the GPU's addresses, continue at
// their start. At least one byte remains between two allocations.
uintptr_t DeviceMemory::place_for(int device, size_t bytes) {
  const auto d = static_cast<size_t>(device);
  const uintptr_t first = begin_ + d * span_, end = first + span_;
  for (const uintptr_t from : {next_[d], first}) {
    uintptr_t at = from;
    auto after = live_.lower_bound(at);
    if (after != live_.begin()) {
      const Allocation& before = std::prev(after)->second;
      if (before.device == device) {
        at = std::max(at, round_up(before.begin + before.bytes + 1, kAlignment));
      }
    }
    for (; at + bytes < end; ++after) {
      if (after == live_.end() || after->second.device != device || at + bytes < after->first) {
        return at;
      }
      at = round_up(after->first + after->second.bytes + 1, kAlignment);
    }
  }
  return 0;
}

void* DeviceMemory::allocate(int device, size_t bytes) {
  const auto d = static_cast<size_t>(device);
  if (bytes > free_bytes(device)) return nullptr;
  const uintptr_t at = place_for(device, bytes);
  if (at == 0) return nullptr;
  next_[d] = round_up(at + bytes + 1, kAlignment);
  used_[d] += bytes;
  live_.emplace(at, Allocation{at, bytes, device});
  auto old = freed_.upper_bound(at);
  if (old != freed_.begin()) --old;
  while (old != freed_.end() && old->first < at + bytes) {
    old = old->second > at ? freed_.erase(old) : std::next(old);
  }
  const Open open;
  std::memset(reinterpret_cast<void*>(at), kFresh, bytes);
  return reinterpret_cast<void*>(at);
}

bool DeviceMemory::free(void* p) {
  const auto found = live_.find(reinterpret_cast<uintptr_t>(p));
  if (found == live_.end()) return false;
  const Allocation a = found->second;
  used_[static_cast<size_t>(a.device)] -= a.bytes;
  live_.erase(found);
  freed_.emplace(a.begin, a.begin + a.bytes);
  clear_shadow(a.begin, a.bytes);
  const Open open;
  std::memset(p, kFreed, a.bytes);
  return true;
}

size_t DeviceMemory::free_bytes(int device) const {
  return settings().memory_bytes - used_[static_cast<size_t>(device)];
}

const Allocation* DeviceMemory::before(uintptr_t p) const {
  auto at = live_.upper_bound(p);
  if (at == live_.begin()) return nullptr;
  const Allocation& a = std::prev(at)->second;
  return a.device == device_at(p) ? &a : nullptr;
}

const Allocation* DeviceMemory::find(uintptr_t p) const {
  const Allocation* a = before(p);
  return a && p - a->begin < a->bytes ? a : nullptr;
}

bool DeviceMemory::was_freed(uintptr_t p) const {
  auto at = freed_.upper_bound(p);
  return at != freed_.begin() && p < std::prev(at)->second;
}

DeviceMemory::Open::Open() {
  DeviceMemory& m = device_memory();
  if (m.opened_++ == 0) {
    mprotect(reinterpret_cast<void*>(m.begin_), m.bytes_, PROT_READ | PROT_WRITE);
  }
}

DeviceMemory::Open::~Open() {
  DeviceMemory& m = device_memory();
  if (--m.opened_ == 0) mprotect(reinterpret_cast<void*>(m.begin_), m.bytes_, PROT_NONE);
}

DeviceMemory& device_memory() {
  static auto* const memory = new DeviceMemory;
  return *memory;
}

void* PinnedMemory::allocate(size_t bytes) {
  constexpr size_t kPage = 4096;
  void* p = std::aligned_alloc(kPage, round_up(std::max<size_t>(bytes, 1), kPage));
  if (p) live_.emplace(reinterpret_cast<uintptr_t>(p), bytes);
  return p;
}

bool PinnedMemory::free(void* p) {
  if (live_.erase(reinterpret_cast<uintptr_t>(p)) == 0) return false;
  std::free(p);
  return true;
}

bool PinnedMemory::holds(uintptr_t p, size_t bytes) const {
  auto at = live_.upper_bound(p);
  if (at == live_.begin()) return false;
  --at;
  return p - at->first < at->second && bytes <= at->first + at->second - p;
}

PinnedMemory& pinned_memory() {
  static auto* const memory = new PinnedMemory;
  return *memory;
}

}  // namespace ambit::cuda::host
