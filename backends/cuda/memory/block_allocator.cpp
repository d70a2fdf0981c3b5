#include "block_allocator.h"

#include <algorithm>
#include <cstdint>
#include <iterator>

namespace ambit::cuda {
namespace {

constexpr size_t kKiB = 1024, kMiB = 1024 * kKiB;
constexpr size_t kGranularity = 512;  // of blocks; keeps vector accesses aligned
constexpr size_t kWord = 4;           // without a cache: what an atomic reaches around a byte
constexpr size_t kSmallBytes = kMiB;  // up to here blocks come from small segments
constexpr size_t kSmallSegment = 2 * kMiB;
constexpr size_t kMediumBytes = 10 * kMiB;  // up to here from segments of
constexpr size_t kMediumSegment = 20 * kMiB;

size_t round_up(size_t bytes, size_t unit) { return (bytes + unit - 1) / unit * unit; }

bool is_small_segment(size_t segment_bytes) { return segment_bytes == kSmallSegment; }

size_t segment_bytes_for(size_t bytes) {
  if (bytes <= kSmallBytes) return kSmallSegment;
  if (bytes <= kMediumBytes) return kMediumSegment;
  return round_up(bytes, 2 * kMiB);
}

}  // namespace

BlockAllocator::BlockAllocator(RawMemory& raw, StreamOrder& streams, std::string device_name,
                               bool caches)
    : raw_(raw), streams_(streams), device_name_(std::move(device_name)), caches_(caches) {}

BlockAllocator::~BlockAllocator() { release_all(); }

void* BlockAllocator::allocate(size_t bytes, int stream) {
  is_alone(stream);
  const std::scoped_lock lock(mutex_);
  const MemoryStats before = stats_;
  if (bytes > PTRDIFF_MAX) throw_out_of_memory(device_name_, bytes, before, raw_.free_bytes());
  const size_t wanted = round_up(std::max<size_t>(bytes, 1), caches_ ? kGranularity : kWord);
  auto block = find_free(wanted, stream);
  if (block == blocks_.end()) block = new_segment(wanted, stream);
  if (block == blocks_.end()) block = adopt(wanted, stream);
  if (block == blocks_.end()) {
    release_all();
    block = new_segment(wanted, stream);
  }
  if (block == blocks_.end()) {
    throw_out_of_memory(device_name_, bytes, before, raw_.free_bytes());
  }
  forget(block);
  split(block, wanted);
  block->second.in_use = true;
  stats_.in_use += block->second.bytes;
  stats_.peak_in_use = std::max(stats_.peak_in_use, stats_.in_use);
  return block->first;
}

void BlockAllocator::use(const void* p, int stream) {
  if (is_alone(stream)) return;
  const std::scoped_lock lock(mutex_);
  auto* address = static_cast<char*>(const_cast<void*>(p));
  auto block = blocks_.upper_bound(address);
  if (block == blocks_.begin()) return;
  --block;
  if (address >= block->first + block->second.bytes || block->second.stream == stream) return;
  streams_.order(block->second.stream, stream);
  block->second.stream = stream;
}

void BlockAllocator::free(void* p) noexcept {
  const std::scoped_lock lock(mutex_);
  const auto block = blocks_.find(static_cast<char*>(p));
  stats_.in_use -= block->second.bytes;
  block->second.in_use = false;
  if (!caches_) {
    raw_.free(block->first, block->second.segment_bytes);
    blocks_.erase(block);
    return;
  }
  keep(merge(block));
}

MemoryStats BlockAllocator::stats() const {
  const std::scoped_lock lock(mutex_);
  return stats_;
}

void BlockAllocator::empty_cache() {
  const std::scoped_lock lock(mutex_);
  release_all();
}

// Whether no other stream than this has ever come by.
bool BlockAllocator::is_alone(int stream) {
  int seen = only_stream_.load(std::memory_order_acquire);
  if (seen == stream) return true;
  if (seen == kNone && only_stream_.compare_exchange_strong(seen, stream)) return true;
  if (seen != stream) only_stream_.store(kSeveral, std::memory_order_release);
  return seen == stream;
}

// The smallest free block of the stream that fits.
BlockAllocator::Blocks::iterator BlockAllocator::find_free(size_t bytes, int stream) {
  const auto pool = free_.find({stream, bytes <= kSmallBytes});
  if (pool == free_.end()) return blocks_.end();
  const auto fit = pool->second.lower_bound({bytes, nullptr});
  return fit == pool->second.end() ? blocks_.end() : blocks_.find(fit->second);
}

// When the system has no more: a block that fits of any stream, behind which this one must wait.
BlockAllocator::Blocks::iterator BlockAllocator::adopt(size_t bytes, int stream) {
  for (const auto& [owner, pool] : free_) {
    if (owner.second != (bytes <= kSmallBytes)) continue;
    const auto block = find_free(bytes, owner.first);
    if (block == blocks_.end()) continue;
    streams_.order(owner.first, stream);
    forget(block);
    block->second.stream = stream;
    keep(block);
    return block;
  }
  return blocks_.end();
}

BlockAllocator::Blocks::iterator BlockAllocator::new_segment(size_t bytes, int stream) {
  const size_t segment_bytes = caches_ ? segment_bytes_for(bytes) : bytes;
  ++stats_.system_allocations;
  auto* p = static_cast<char*>(raw_.allocate(segment_bytes));
  if (!p) return blocks_.end();
  const auto block =
      blocks_.emplace(p, Block{segment_bytes, p, segment_bytes, stream, false}).first;
  keep(block);
  return block;
}

// Cut off what a block of `bytes` does not need, where the rest is worth keeping.
void BlockAllocator::split(Blocks::iterator block, size_t bytes) {
  Block& b = block->second;
  const size_t rest = b.bytes - bytes;
  if (rest < (is_small_segment(b.segment_bytes) ? kGranularity : kSmallBytes + 1)) return;
  Block tail = b;
  tail.bytes = rest;
  b.bytes = bytes;
  keep(blocks_.emplace(block->first + bytes, tail).first);
}

// Join a free block, which is in no pool, with free neighbours of its segment and stream.
BlockAllocator::Blocks::iterator BlockAllocator::merge(Blocks::iterator block) noexcept {
  const auto joins = [&](const Block& other) {
    const Block& b = block->second;
    return !other.in_use && other.segment == b.segment && other.stream == b.stream;
  };
  if (const auto after = std::next(block); after != blocks_.end() && joins(after->second)) {
    forget(after);
    block->second.bytes += after->second.bytes;
    blocks_.erase(after);
  }
  if (block == blocks_.begin()) return block;
  const auto before = std::prev(block);
  if (!joins(before->second)) return block;
  forget(before);
  before->second.bytes += block->second.bytes;
  blocks_.erase(block);
  return before;
}

void BlockAllocator::keep(Blocks::iterator block) {
  const Block& b = block->second;
  free_[{b.stream, is_small_segment(b.segment_bytes)}].emplace(b.bytes, block->first);
  stats_.cached += b.bytes;
}

void BlockAllocator::forget(Blocks::iterator block) noexcept {
  const Block& b = block->second;
  free_.find({b.stream, is_small_segment(b.segment_bytes)})->second.erase({b.bytes, block->first});
  stats_.cached -= b.bytes;
}

// A segment may be of several streams: the system frees it only when the GPU has done all its work.
void BlockAllocator::release_all() noexcept {
  for (auto first = blocks_.begin(); first != blocks_.end();) {
    bool is_free = true;
    auto end = first;
    for (; end != blocks_.end() && end->second.segment == first->first; ++end) {
      is_free = is_free && !end->second.in_use;
    }
    if (is_free) {
      for (auto block = first; block != end; ++block) forget(block);
      raw_.free(first->first, first->second.segment_bytes);
      blocks_.erase(first, end);
    }
    first = end;
  }
}

}  // namespace ambit::cuda
