// A caching allocator for cudaMalloc: segments from the system are split into blocks and merged
// again. Each block belongs to the stream for which it was allocated and is immediately reused for
// work of that stream: a kernel in flight precedes the block's next user without a host wait. For
// each block the last writing calls and the reads since then are recorded: a reader is ordered
// after the writers, a writer after both, and readers are not ordered among themselves. Independent
// of CUDA: tested with a simulated device on any machine.
// Sizes and pools are those of PyTorch's CUDACachingAllocator, which leaves the ordering of streams
// to the user (record_stream). The order between streams is tracked by vector clocks (Fidge 1988,
// Mattern 1989), which avoids repeated waits for the same work.
#pragma once

#include <ambit/backend/caching_allocator.h>

#include <atomic>
#include <cstddef>
#include <map>
#include <mutex>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "backends/cuda/driver/stream_clock.h"
#include "graph_memory.h"

namespace ambit::cuda {

/// The operations on streams, identified by small numbers, that the allocator needs.
struct StreamOrder {
  virtual ~StreamOrder() = default;
  /// Make all later work of stream `after` wait for the work now queued on stream `before`.
  virtual void order(int before, int after) = 0;
};

/// An access by a call to the block of memory around `p`.
struct Access {
  const void* p;
  bool writes;
};

/// A call on a stream.
struct StreamCall {
  const StreamClock* stream;
  uint64_t number;
};
using StreamCalls = std::vector<StreamCall>;  // at most one for each stream

/// Thread-safe.
class BlockAllocator {
 public:
  /// `raw` and `streams` must outlive this; `device_name` is for error messages. Without a cache
  /// every request goes to the system with its exact size: slow, but lets tools check its bounds.
  BlockAllocator(RawMemory& raw, StreamOrder& streams, std::string device_name, bool caches = true);
  ~BlockAllocator();
  BlockAllocator(const BlockAllocator&) = delete;
  BlockAllocator& operator=(const BlockAllocator&) = delete;

  /// Return memory for work that `stream` queues from now on, aligned to 512 bytes. Streams are
  /// never destroyed. Errors: OutOfMemoryError, after the cache has been returned to the system and
  /// the request repeated; in a capture immediately.
  void* allocate(size_t bytes, StreamClock& stream);
  /// Order `stream`, before the call that it has begun queues work, after all earlier work on the
  /// blocks of the call; pass all its accesses at once. Blocks the host while another thread is
  /// still queueing that work. Ignores memory of other allocators, until borrow(). Errors:
  /// BackendError for memory of a graph that is being captured, which has no contents yet.
  void use(std::span<const Access> accesses, StreamClock& stream) {
    wait_for_calls(enlist(accesses, stream), stream);
  }
  /// The two halves of use(), for a call that uses memory of two allocators: enlist in both before
  /// waiting, and serialise these calls; otherwise two calls could wait for each other.
  StreamCalls enlist(std::span<const Access> accesses, StreamClock& stream);
  void wait_for_calls(const StreamCalls& calls, StreamClock& stream);
  /// Return true if no other stream has used this allocator: use() is then a no-op.
  bool is_alone(StreamClock& stream);
  /// From now on treat all memory of other allocators as one additional block, because memory lent
  /// by other libraries may overlap.
  void borrow();
  /// Free a block. Work that uses it may still be queued.
  void free(void* p) noexcept;

  /// Until end_capture(), allocate for the graph on streams whose `graph` member refers to it.
  void begin_capture(GraphMemory& graph);
  /// Record accesses of the graph. Their blocks stay allocated as long as it lives, even if freed.
  /// Errors: BackendError for memory lent by another library or of another capture.
  void use_in(GraphMemory& graph, std::span<const Access> accesses);
  void end_capture(GraphMemory& graph);
  /// Order `stream` as use() does, for a call that runs all of the graph's work.
  void use(const GraphMemory& graph, StreamClock& stream);
  /// The graph is destroyed and its work is done: release its memory for other uses.
  void release(GraphMemory& graph) noexcept;

  MemoryStats stats() const;
  /// Return all free segments to the system, which waits for the device.
  void empty_cache();

 private:
  struct Block {
    size_t bytes;
    char* segment;         // start of the segment that contains the block
    size_t segment_bytes;  // size of the whole segment
    StreamClock* owner;    // stream for which it was allocated
    bool in_use;
    StreamCalls writers;  // the last writer; for reused memory all calls that used it before
    StreamCalls readers;  // reads since the last write
    GraphMemory* graph;   // the capture in which it was allocated; null: none
    int graphs;           // number of other graphs that use it
  };
  using Blocks = std::map<char*, Block>;                  // by address, including free ones
  using FreeBlocks = std::set<std::pair<size_t, char*>>;  // best fit first
  using PoolKey = std::pair<int, bool>;                   // the owner's id, and whether small
  using Pools = std::map<PoolKey, FreeBlocks>;

  void* allocate_in(GraphMemory& graph, size_t bytes);
  void* take(Blocks::iterator block, size_t wanted);
  void give_back(Blocks::iterator block) noexcept;
  void expect_no_capture(std::span<const Access> accesses);
  static void enlist(Block& block, bool writes, const StreamCall& now, StreamCalls& before);
  template <class F>
  void for_each_block(const GraphMemory& graph, const F& f);
  FreeBlocks& pool_of(const Block& block);

  bool register_stream(StreamClock& stream);
  void order(const StreamClock& before, StreamClock& after);
  Blocks::iterator block_around(const void* p);
  Blocks::iterator find_free(size_t bytes, const FreeBlocks& pool);
  Blocks::iterator adopt(size_t bytes, bool small, StreamClock& stream);
  Blocks::iterator new_segment(size_t bytes, StreamClock& stream, GraphMemory* graph = nullptr);
  Blocks::iterator merge(Blocks::iterator block) noexcept;
  void split(Blocks::iterator block, size_t bytes);
  void keep(Blocks::iterator block);
  void forget(Blocks::iterator block) noexcept;
  void release_all() noexcept;

  RawMemory& raw_;
  StreamOrder& streams_;
  const std::string device_name_;
  const bool caches_;
  // The only stream so far, null if none, or &several_. Programs with one thread never search
  // blocks or record uses.
  StreamClock several_{-1};
  std::atomic<StreamClock*> only_stream_{nullptr};
  mutable std::mutex mutex_;  // guards the members below, raw_, and StreamClock::known
  Blocks blocks_;
  Pools free_;
  MemoryStats stats_;
  bool borrows_ = false;
  int captures_ = 0;  // captures in progress
  Block outside_{};
};

}  // namespace ambit::cuda
