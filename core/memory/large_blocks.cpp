#include "large_blocks.h"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <new>

namespace ambit {
namespace {

// A segment's block that is much too large is not split. It will probably be requested again, and a
// small long-lived part of it would prevent that: the gradient of a layer's output is allocated
// long after the output, with tensors saved for backward in between. If memory comes as pages, a
// larger request then needs only the missing pages.
constexpr size_t kMostTimes = 3;

}  // namespace

char* LargeBlocks::allocate(size_t bytes, uint64_t now) {
  const auto fit = free_.lower_bound({reinterpret_cast<char*>(UINTPTR_MAX), bytes});
  if (fit == free_.end()) return nullptr;
  const auto [begin, had] = *fit;
  Block& block = blocks_.find(begin)->second;
  if (block.segment.begin && had > kMostTimes * bytes) return nullptr;
  if (had == bytes) {
    free_.erase(fit);
    block.last_request = now;
    block.free = false;
    return begin;
  }
  // Use its upper part: pages grow downwards, so free memory should be at the bottom.
  char* const taken = begin + (had - bytes);
  blocks_.emplace(taken, Block{bytes, block.segment, now, false});  // may throw before any change
  block.bytes = had - bytes;
  auto entry = free_.extract(fit);
  entry.value().bytes = block.bytes;
  free_.insert(std::move(entry));
  return taken;
}

void LargeBlocks::add_segment(Range segment, uint64_t now) {
  blocks_.emplace(segment.begin, Block{segment.bytes, segment, now, false});
}

void LargeBlocks::add_pages(Range pages, uint64_t now) {
  blocks_.emplace(pages.begin, Block{pages.bytes, {}, now, false});
  if (free_block(pages.begin) > 0) return;
  blocks_.erase(pages.begin);
  throw std::bad_alloc();
}

LargeBlocks::Range LargeBlocks::lowest_pages() const {
  if (blocks_.empty() || blocks_.begin()->second.segment.begin) return {};
  const auto& [begin, block] = *blocks_.begin();
  return {begin, block.free ? block.bytes : 0};
}

size_t LargeBlocks::free_block(void* p) noexcept {
  const auto block = blocks_.find(static_cast<char*>(p));
  const size_t bytes = block->second.bytes;
  try {
    free_.insert({block->first, bytes});
  } catch (...) {
    return 0;
  }
  block->second.free = true;
  const auto joins = [](const auto& one, const auto& next) {
    return one.second.free && next.second.free && one.first + one.second.bytes == next.first &&
           one.second.segment.begin == next.second.segment.begin;
  };
  if (const auto next = std::next(block); next != blocks_.end() && joins(*block, *next)) {
    join(block, next);
  }
  if (block == blocks_.begin()) return bytes;
  if (const auto before = std::prev(block); joins(*before, *block)) join(before, block);
  return bytes;
}

void LargeBlocks::join(Blocks::iterator block, Blocks::iterator next) noexcept {
  auto entry = free_.extract({block->first, block->second.bytes});
  free_.erase({next->first, next->second.bytes});
  block->second.bytes += next->second.bytes;
  block->second.last_request = std::max(block->second.last_request, next->second.last_request);
  blocks_.erase(next);
  entry.value().bytes = block->second.bytes;
  free_.insert(std::move(entry));
}

LargeBlocks::Oldest LargeBlocks::oldest_free() const {
  Oldest oldest;
  for (const auto& [begin, bytes] : free_) {
    const Block& block = blocks_.find(begin)->second;
    const bool has_pages = !block.segment.begin;
    if (!has_pages && bytes != block.segment.bytes) continue;
    if (!oldest.range.begin || block.last_request < oldest.last_request) {
      oldest = {{begin, bytes}, has_pages, block.last_request};
    }
  }
  return oldest;
}

void LargeBlocks::remove(Range free) noexcept {
  free_.erase(free);
  blocks_.erase(free.begin);
}

}  // namespace ambit
