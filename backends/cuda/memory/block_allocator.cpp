// The file is long because all functions, including captures, share the blocks and pools.
#include "block_allocator.h"

#include <ambit/error.h>

#include <algorithm>
#include <cstdint>
#include <iterator>

namespace ambit::cuda {
namespace {

constexpr size_t kKiB = 1024, kMiB = 1024 * kKiB;
constexpr size_t kGranularity = 512;  // of block sizes; keeps vector accesses aligned
constexpr size_t kWord = 4;           // granularity without a cache, for atomics on bytes
constexpr size_t kSmallBytes = kMiB;  // up to this size, blocks come from small segments
constexpr size_t kSmallSegment = 2 * kMiB;
constexpr size_t kMediumBytes = 10 * kMiB;  // up to this size, from medium segments
constexpr size_t kMediumSegment = 20 * kMiB;

size_t round_up(size_t bytes, size_t unit) { return (bytes + unit - 1) / unit * unit; }

void throw_captured() {
  throw BackendError(
      "cuda: expected memory with values, got memory of a CUDA graph that another stream is still "
      "capturing");
}

bool is_small_segment(size_t segment_bytes) { return segment_bytes == kSmallSegment; }

size_t segment_bytes_for(size_t bytes) {
  if (bytes <= kSmallBytes) return kSmallSegment;
  if (bytes <= kMediumBytes) return kMediumSegment;
  return round_up(bytes, 2 * kMiB);
}

// Return true if all work queued on the stream from now on is already ordered after the call.
bool knows(const StreamClock& stream, const StreamCall& call) {
  if (call.stream == &stream) return true;
  const auto id = static_cast<size_t>(call.stream->id);
  return id < stream.known.size() && stream.known[id] >= call.number;
}

void add(StreamCalls& calls, const StreamCall& call) {
  for (StreamCall& c : calls) {
    if (c.stream != call.stream) continue;
    c.number = std::max(c.number, call.number);
    return;
  }
  calls.push_back(call);
}

}  // namespace

BlockAllocator::BlockAllocator(RawMemory& raw, StreamOrder& streams, std::string device_name,
                               bool caches)
    : raw_(raw), streams_(streams), device_name_(std::move(device_name)), caches_(caches) {}

BlockAllocator::~BlockAllocator() { release_all(); }

void* BlockAllocator::allocate(size_t bytes, StreamClock& stream) {
  if (stream.graph) return allocate_in(*stream.graph, bytes);
  is_alone(stream);
  const std::scoped_lock lock(mutex_);
  const MemoryStats before = stats_;
  if (bytes > PTRDIFF_MAX) throw_out_of_memory(device_name_, bytes, before, raw_.free_bytes());
  const size_t wanted = round_up(std::max<size_t>(bytes, 1), caches_ ? kGranularity : kWord);
  const bool small = wanted <= kSmallBytes;
  auto block = find_free(wanted, free_[{stream.id, small}]);
  if (block == blocks_.end()) block = new_segment(wanted, stream);
  if (block == blocks_.end()) block = adopt(wanted, small, stream);
  if (block == blocks_.end()) {
    release_all();
    block = new_segment(wanted, stream);
  }
  if (block == blocks_.end()) block = adopt(wanted, !small, stream);
  if (block == blocks_.end()) {
    throw_out_of_memory(device_name_, bytes, before, raw_.free_bytes());
  }
  // All calls that used a free block are queued, because memory is freed only after its uses are
  // queued. Keep the writers, because other streams may be the first to use the memory.
  for (const StreamCall& call : block->second.writers) {
    if (!knows(stream, call)) order(*call.stream, stream);
  }
  return take(block, wanted);
}

// The capture order is the graph's execution order, so blocks freed in the capture are reused. The
// shared cache is kept, because memory must not be returned to the system during a capture.
void* BlockAllocator::allocate_in(GraphMemory& graph, size_t bytes) {
  const std::scoped_lock lock(mutex_);
  const MemoryStats before = stats_;
  if (bytes > PTRDIFF_MAX) throw_out_of_memory(device_name_, bytes, before, raw_.free_bytes());
  const size_t wanted = round_up(std::max<size_t>(bytes, 1), caches_ ? kGranularity : kWord);
  auto block = find_free(wanted, graph.free_[wanted <= kSmallBytes]);
  if (block == blocks_.end()) block = new_segment(wanted, graph.home_, &graph);
  if (block == blocks_.end()) {
    throw_out_of_memory(device_name_, bytes, before, raw_.free_bytes());
  }
  return take(block, wanted);
}

// Hand out a free block, split to the wanted size.
void* BlockAllocator::take(Blocks::iterator block, size_t wanted) {
  forget(block);
  split(block, wanted);
  block->second.in_use = true;
  stats_.in_use += block->second.bytes;
  stats_.allocated += block->second.bytes;
  stats_.peak_in_use = std::max(stats_.peak_in_use, stats_.in_use);
  return block->first;
}

// Enlist in all blocks atomically, and under a new call number: of two calls that share blocks, one
// precedes the other in all of them and does not wait for calls that enlist later. Ending the
// previous number releases calls that wait for it.
StreamCalls BlockAllocator::enlist(std::span<const Access> accesses, StreamClock& stream) {
  StreamCalls before;
  if (is_alone(stream)) return before;
  const std::scoped_lock lock(mutex_);
  if (captures_ > 0) expect_no_capture(accesses);
  stream.end();
  stream.begin();
  const StreamCall now{&stream, stream.begun()};
  for (const Access& access : accesses) {
    const auto found = block_around(access.p);
    if (found == blocks_.end() && !borrows_) continue;
    enlist(found == blocks_.end() ? outside_ : found->second, access.writes, now, before);
  }
  return before;
}

// For one block: add to `before` the calls that must precede this one.
void BlockAllocator::enlist(Block& block, bool writes, const StreamCall& now, StreamCalls& before) {
  const auto add_unordered = [&](const StreamCalls& calls) {
    for (const StreamCall& call : calls) {
      if (!knows(*now.stream, call)) add(before, call);
    }
  };
  add_unordered(block.writers);
  if (!writes) return add(block.readers, now);
  add_unordered(block.readers);
  block.readers.clear();
  block.writers.assign(1, now);
}

void BlockAllocator::wait_for_calls(const StreamCalls& calls, StreamClock& stream) {
  if (calls.empty()) return;
  for (const StreamCall& call : calls) call.stream->wait_until_queued(call.number);
  const std::scoped_lock lock(mutex_);
  for (const StreamCall& call : calls) {
    if (!knows(stream, call)) order(*call.stream, stream);  // may be ordered by now
  }
}

void BlockAllocator::borrow() {
  const std::scoped_lock lock(mutex_);
  borrows_ = true;
}

void BlockAllocator::free(void* p) noexcept {
  const std::scoped_lock lock(mutex_);
  const auto block = blocks_.find(static_cast<char*>(p));
  Block& b = block->second;
  stats_.in_use -= b.bytes;
  b.in_use = false;
  if (b.graphs == 0) give_back(block);
}

// Called when neither a tensor nor a graph uses the block any more.
void BlockAllocator::give_back(Blocks::iterator block) noexcept {
  Block& b = block->second;
  if (!caches_ && !b.graph) {
    raw_.free(block->first, b.segment_bytes);
    blocks_.erase(block);
    return;
  }
  if (only_stream_.load() == &several_) {
    for (const StreamCall& call : b.readers) add(b.writers, call);
    b.readers.clear();
    // Scratch memory is used without being enlisted, only by its owner.
    add(b.writers, {b.owner, b.owner->begun()});
  }
  keep(merge(block));
}

void BlockAllocator::begin_capture(GraphMemory& graph) {
  is_alone(graph.home_);  // registers its stream, so that another thread's stream does not count as
                          // the only one
  const std::scoped_lock lock(mutex_);
  ++captures_;
}

void BlockAllocator::end_capture(GraphMemory& graph) {
  const std::scoped_lock lock(mutex_);
  --captures_;
  graph.is_capturing_ = false;
}

void BlockAllocator::use_in(GraphMemory& graph, std::span<const Access> accesses) {
  const std::scoped_lock lock(mutex_);
  for (const Access& access : accesses) {
    const auto found = block_around(access.p);
    if (found == blocks_.end()) {
      if (!borrows_) continue;
      throw BackendError(
          "cuda: expected memory that a CUDA graph can keep, got memory of another library");
    }
    Block& block = found->second;
    if (block.graph == &graph) continue;
    if (block.graph && block.graph->is_capturing_) throw_captured();
    const auto [used, is_new] = graph.used_.try_emplace(found->first, false);
    used->second |= access.writes;
    block.graphs += is_new;
  }
}

// The graph may write any memory allocated for it, including scratch memory.
void BlockAllocator::use(const GraphMemory& graph, StreamClock& stream) {
  if (is_alone(stream)) return;
  StreamCalls before;
  {
    const std::scoped_lock lock(mutex_);
    stream.end();
    stream.begin();
    const StreamCall now{&stream, stream.begun()};
    for (const auto& [p, writes] : graph.used_) {
      enlist(blocks_.find(p)->second, writes, now, before);
    }
    for_each_block(graph,
                   [&](Blocks::iterator block) { enlist(block->second, true, now, before); });
  }
  wait_for_calls(before, stream);
}

void BlockAllocator::release(GraphMemory& graph) noexcept {
  const std::scoped_lock lock(mutex_);
  if (graph.is_capturing_) --captures_;
  for (const auto& [p, writes] : graph.used_) {
    const auto block = blocks_.find(p);
    if (--block->second.graphs == 0 && !block->second.in_use) give_back(block);
  }
  for_each_block(graph, [&](Blocks::iterator block) {
    Block& b = block->second;
    const bool is_free = !b.in_use && b.graphs == 0;
    if (is_free) forget(block);
    b.graph = nullptr;
    if (!is_free) return;
    if (caches_) return keep(block);
    raw_.free(block->first, b.segment_bytes);
    blocks_.erase(block);
  });
  graph.used_.clear();
  graph.segments_.clear();
}

MemoryStats BlockAllocator::stats() const {
  const std::scoped_lock lock(mutex_);
  return stats_;
}

void BlockAllocator::empty_cache() {
  const std::scoped_lock lock(mutex_);
  release_all();
}

bool BlockAllocator::is_alone(StreamClock& stream) {
  StreamClock* const seen = only_stream_.load();
  if (seen == &stream) return true;
  return seen != &several_ && register_stream(stream);
}

// Registers the first or second stream. With the second, every block may be in use by the first
// stream's calls so far. That stream may begin a call concurrently without recording it: either
// begun() has increased here, or the call sees that it is no longer alone: both sides store and
// then load, which needs sequential consistency (StreamClock::begin()).
bool BlockAllocator::register_stream(StreamClock& stream) {
  const std::scoped_lock lock(mutex_);
  StreamClock* const seen = only_stream_.load();
  if (!seen) only_stream_.store(&stream);
  if (!seen || seen == &stream) return true;
  if (seen == &several_) return false;
  for (auto& [p, block] : blocks_) block.writers.reserve(1);
  outside_.writers.reserve(1);  // nothing below can fail
  only_stream_.store(&several_);
  outside_.writers.assign(1, {seen, seen->begun()});
  for (auto& [p, block] : blocks_) block.writers.assign(1, {seen, seen->begun()});
  return false;
}

void BlockAllocator::expect_no_capture(std::span<const Access> accesses) {
  for (const Access& access : accesses) {
    const auto found = block_around(access.p);
    if (found == blocks_.end()) continue;
    const GraphMemory* graph = found->second.graph;
    if (graph && graph->is_capturing_) throw_captured();
  }
}

// Call f for all blocks of the graph's segments. f may erase its block.
template <class F>
void BlockAllocator::for_each_block(const GraphMemory& graph, const F& f) {
  for (char* segment : graph.segments_) {
    for (auto block = blocks_.find(segment);
         block != blocks_.end() && block->second.segment == segment;) {
      f(block++);
    }
  }
}

// Order `after` after the queued work of `before` and all work that precedes it.
void BlockAllocator::order(const StreamClock& before, StreamClock& after) {
  const uint64_t queued = before.queued();
  streams_.order(before.id, after.id);
  const auto id = static_cast<size_t>(before.id);
  after.known.resize(std::max({after.known.size(), before.known.size(), id + 1}));
  for (size_t i = 0; i < before.known.size(); ++i) {
    after.known[i] = std::max(after.known[i], before.known[i]);
  }
  after.known[id] = std::max(after.known[id], queued);
}

// Return end() if the memory is not of this allocator.
BlockAllocator::Blocks::iterator BlockAllocator::block_around(const void* p) {
  auto* address = static_cast<char*>(const_cast<void*>(p));
  auto block = blocks_.upper_bound(address);
  if (block == blocks_.begin()) return blocks_.end();
  --block;
  return address < block->first + block->second.bytes ? block : blocks_.end();
}

// Return the smallest free block of a pool that fits.
BlockAllocator::Blocks::iterator BlockAllocator::find_free(size_t bytes, const FreeBlocks& pool) {
  const auto fit = pool.lower_bound({bytes, nullptr});
  return fit == pool.end() ? blocks_.end() : blocks_.find(fit->second);
}

// If the system has no more memory: return a fitting block of any stream, small or large.
BlockAllocator::Blocks::iterator BlockAllocator::adopt(size_t bytes, bool small,
                                                       StreamClock& stream) {
  for (const auto& [key, pool] : free_) {
    if (key.second != small) continue;
    const auto block = find_free(bytes, pool);
    if (block == blocks_.end()) continue;
    forget(block);
    block->second.owner = &stream;
    keep(block);
    return block;
  }
  return blocks_.end();
}

BlockAllocator::Blocks::iterator BlockAllocator::new_segment(size_t bytes, StreamClock& stream,
                                                             GraphMemory* graph) {
  const size_t segment_bytes = caches_ ? segment_bytes_for(bytes) : bytes;
  ++stats_.system_allocations;
  auto* p = static_cast<char*>(raw_.allocate(segment_bytes));
  if (!p) return blocks_.end();
  const auto block =
      blocks_.emplace(p, Block{segment_bytes, p, segment_bytes, &stream, false, {}, {}, graph, 0})
          .first;
  if (graph) graph->segments_.push_back(p);
  keep(block);
  return block;
}

// Split off the unused rest of a block, if the rest is worth keeping.
void BlockAllocator::split(Blocks::iterator block, size_t bytes) {
  if (!caches_) return;
  Block& b = block->second;
  const size_t rest = b.bytes - bytes;
  if (rest < (is_small_segment(b.segment_bytes) ? kGranularity : kSmallBytes + 1)) return;
  Block tail = b;
  tail.bytes = rest;
  b.bytes = bytes;
  keep(blocks_.emplace(block->first + bytes, tail).first);
}

// Merge a free block, which is in no pool, with free neighbours of its segment and owner.
BlockAllocator::Blocks::iterator BlockAllocator::merge(Blocks::iterator block) noexcept {
  const auto joins = [&](const Block& other) {
    const Block& b = block->second;
    return !other.in_use && other.graphs == 0 && other.segment == b.segment &&
           other.owner == b.owner;
  };
  if (const auto after = std::next(block); after != blocks_.end() && joins(after->second)) {
    forget(after);
    for (const StreamCall& call : after->second.writers) add(block->second.writers, call);
    block->second.bytes += after->second.bytes;
    blocks_.erase(after);
  }
  if (block == blocks_.begin()) return block;
  const auto before = std::prev(block);
  if (!joins(before->second)) return block;
  forget(before);
  for (const StreamCall& call : block->second.writers) add(before->second.writers, call);
  before->second.bytes += block->second.bytes;
  blocks_.erase(block);
  return before;
}

BlockAllocator::FreeBlocks& BlockAllocator::pool_of(const Block& b) {
  const bool small = is_small_segment(b.segment_bytes);
  return b.graph ? b.graph->free_[small] : free_[{b.owner->id, small}];
}

void BlockAllocator::keep(Blocks::iterator block) {
  pool_of(block->second).emplace(block->second.bytes, block->first);
  stats_.cached += block->second.bytes;
}

void BlockAllocator::forget(Blocks::iterator block) noexcept {
  pool_of(block->second).erase({block->second.bytes, block->first});
  stats_.cached -= block->second.bytes;
}

// A segment may contain blocks of several streams; the system frees it after all work of the GPU.
void BlockAllocator::release_all() noexcept {
  for (auto first = blocks_.begin(); first != blocks_.end();) {
    bool is_free = true;
    auto end = first;
    for (; end != blocks_.end() && end->second.segment == first->first; ++end) {
      const Block& b = end->second;
      is_free = is_free && !b.in_use && b.graphs == 0 && !b.graph;
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
