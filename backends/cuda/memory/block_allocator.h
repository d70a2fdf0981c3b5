// The cache in front of cudaMalloc: segments from the system, split into blocks and merged again.
// Each block belongs to the stream that it was allocated for, and is handed out again, at once, to
// work of that stream: a kernel still in flight then comes before the block's next user, without a
// wait of the host. Of each block it is known which calls have written it last, and which have read
// it since: a reader is ordered behind the writers, a writer behind all of them, and readers behind
// each other never. No CUDA here: tested with a simulated device on any machine.
// Sizes and pools are those of PyTorch's CUDACachingAllocator, which leaves the order of streams to
// the user (record_stream). What streams know of each other are vector clocks (Fidge 1988, Mattern
// 1989), so that nobody waits twice for the same work.
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

/// What the allocator needs to know about streams, which it knows by small numbers.
struct StreamOrder {
  virtual ~StreamOrder() = default;
  /// Make all later work of stream `after` wait for what stream `before` holds now.
  virtual void order(int before, int after) = 0;
};

/// What a call does with the block of memory around `p`.
struct Access {
  const void* p;
  bool writes;
};

/// A call of a stream.
struct StreamCall {
  const StreamClock* stream;
  uint64_t number;
};
using StreamCalls = std::vector<StreamCall>;  // of each stream one at most

/// Thread-safe.
class BlockAllocator {
 public:
  /// `raw` and `streams` must outlive this; `device_name` is for error texts. Without a cache every
  /// request goes to the system, for its bytes alone, so that tools see where it ends: slow.
  BlockAllocator(RawMemory& raw, StreamOrder& streams, std::string device_name, bool caches = true);
  ~BlockAllocator();
  BlockAllocator(const BlockAllocator&) = delete;
  BlockAllocator& operator=(const BlockAllocator&) = delete;

  /// Return memory for work that `stream` queues from now on, aligned to 512 bytes. Streams are
  /// never destroyed. Errors: OutOfMemoryError, after the cache was given back and the system asked
  /// again; in a capture at once.
  void* allocate(size_t bytes, StreamClock& stream);
  /// Order `stream` behind the work that the call it has begun must come after, before it queues
  /// any: of all blocks that the call uses, given at once. Waits, on the host, while such work is
  /// being queued. Memory that is not of this allocator is left alone, until borrow(). Errors:
  /// BackendError for memory of a graph that is being captured: nothing is there yet.
  void use(std::span<const Access> accesses, StreamClock& stream) {
    follow(enlist(accesses, stream), stream);
  }
  /// The two halves of use(), for a call that uses memory of two allocators: it enlists in both
  /// before it follows, and no other such call may enlist meanwhile, or each could wait for the
  /// other.
  StreamCalls enlist(std::span<const Access> accesses, StreamClock& stream);
  void follow(const StreamCalls& calls, StreamClock& stream);
  /// Whether no other stream than this has ever come by: then use() has nothing to do.
  bool is_alone(StreamClock& stream);
  /// From now on take all memory that is not of this allocator for one more block: some is
  /// another library's, who may have lent it in pieces that overlap.
  void borrow();
  /// Take back a block. Work on it may still be queued.
  void free(void* p) noexcept;

  /// From now on, until end_capture(), a stream whose `graph` this is allocates for the graph.
  void begin_capture(GraphMemory& graph);
  /// The graph uses these. They stay as they are as long as it lives, also when they are freed.
  /// Errors: BackendError for what another library has lent, or is of another capture.
  void use_in(GraphMemory& graph, std::span<const Access> accesses);
  void end_capture(GraphMemory& graph);
  /// Order `stream` as use() does, for a call that is all the graph's work.
  void use(const GraphMemory& graph, StreamClock& stream);
  /// The graph is no more, and no work of it is queued any more: its memory serves others.
  void release(GraphMemory& graph) noexcept;

  MemoryStats stats() const;
  /// Give all free segments back to the system, which waits for the device.
  void empty_cache();

 private:
  struct Block {
    size_t bytes;
    char* segment;         // where the segment begins that it is a part of
    size_t segment_bytes;  // of the whole
    StreamClock* owner;    // it was allocated for
    bool in_use;
    StreamCalls writers;  // the last one; of memory that is used again, all that used it before
    StreamCalls readers;  // since then
    GraphMemory* graph;   // it was allocated in the capture of, null: of none
    int graphs;           // how many others use it
  };
  using Blocks = std::map<char*, Block>;                  // by address, free ones too
  using FreeBlocks = std::set<std::pair<size_t, char*>>;  // best fit first
  using PoolKey = std::pair<int, bool>;                   // the owner, and whether small
  using Pools = std::map<PoolKey, FreeBlocks>;

  void* allocate_in(GraphMemory& graph, size_t bytes);
  void* take(Blocks::iterator block, size_t wanted);
  void give_back(Blocks::iterator block) noexcept;
  void expect_no_capture(std::span<const Access> accesses);
  static void enlist(Block& block, bool writes, const StreamCall& now, StreamCalls& before);
  template <class F>
  void for_each_block(const GraphMemory& graph, const F& f);
  FreeBlocks& pool_of(const Block& block);

  bool meet(StreamClock& stream);
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
  // The one stream seen so far, null, or the address of several_. A program with one thread never
  // has to look its blocks up, nor notes who uses them.
  StreamClock several_{-1};
  std::atomic<StreamClock*> only_stream_{nullptr};
  mutable std::mutex mutex_;  // guards what follows, raw_, and StreamClock::known
  Blocks blocks_;
  Pools free_;
  MemoryStats stats_;
  bool borrows_ = false;
  int captures_ = 0;  // that have not ended
  Block outside_{};
};

}  // namespace ambit::cuda
