#include "large_blocks.h"

#include <algorithm>
#include <iterator>

namespace ambit {
namespace {

// A block that is much too large stays whole. Whoever freed it will ask for it again, and a small
// part of it that lives on would be in the way: the gradient of a layer's output comes long after
// the output, with what is saved for backward made between them.
constexpr size_t kMostTimes = 3;

}  // namespace

char* LargeBlocks::take(size_t bytes, uint64_t now) {
  const auto fit = free_.lower_bound({bytes, nullptr});
  if (fit == free_.end()) return nullptr;
  const auto [had, begin] = *fit;
  if (had > kMostTimes * bytes) return nullptr;
  Block& block = blocks_.find(begin)->second;
  if (had == bytes) {
    free_.erase(fit);
  } else {
    Block rest = block;
    rest.bytes = had - bytes;
    blocks_.emplace(begin + bytes, rest);  // may throw, and nothing has changed then
    auto entry = free_.extract(fit);
    entry.value() = {rest.bytes, begin + bytes};
    free_.insert(std::move(entry));
  }
  block.bytes = bytes;
  block.last_request = now;
  block.free = false;
  return begin;
}

void LargeBlocks::add_segment(Range segment, uint64_t now) {
  blocks_.emplace(segment.begin, Block{segment.bytes, segment, now, false});
}

size_t LargeBlocks::give_back(void* p) noexcept {
  const auto block = blocks_.find(static_cast<char*>(p));
  const size_t bytes = block->second.bytes;
  try {
    free_.emplace(bytes, block->first);
  } catch (...) {
    return 0;
  }
  block->second.free = true;
  const auto joins = [&](const Block& other) {
    return other.free && other.segment.begin == block->second.segment.begin;
  };
  if (const auto next = std::next(block); next != blocks_.end() && joins(next->second)) {
    join(block, next);
  }
  if (block == blocks_.begin()) return bytes;
  if (const auto before = std::prev(block); joins(before->second)) join(before, block);
  return bytes;
}

void LargeBlocks::join(Blocks::iterator block, Blocks::iterator next) noexcept {
  auto entry = free_.extract({block->second.bytes, block->first});
  free_.erase({next->second.bytes, next->first});
  block->second.bytes += next->second.bytes;
  block->second.last_request = std::max(block->second.last_request, next->second.last_request);
  blocks_.erase(next);
  entry.value().first = block->second.bytes;
  free_.insert(std::move(entry));
}

std::pair<LargeBlocks::Range, uint64_t> LargeBlocks::oldest_free_segment() const {
  std::pair<Range, uint64_t> oldest;
  for (const auto& [bytes, begin] : free_) {
    const Block& block = blocks_.find(begin)->second;
    if (bytes != block.segment.bytes) continue;
    if (!oldest.first.begin || block.last_request < oldest.second) {
      oldest = {block.segment, block.last_request};
    }
  }
  return oldest;
}

void LargeBlocks::remove_segment(Range free_segment) noexcept {
  free_.erase({free_segment.bytes, free_segment.begin});
  blocks_.erase(free_segment.begin);
}

}  // namespace ambit
