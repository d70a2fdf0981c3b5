// The cache in front of cudaMalloc: segments from the system, split into blocks and merged again.
// Each block belongs to the stream that used it last, and is handed out again, at once, to work of
// that stream alone: a kernel still in flight then comes before the block's next user, without a
// wait of the host. Where another stream uses a block, it is ordered behind the owner and becomes
// the owner. No CUDA here: tested with a simulated device on any machine.
// Sizes and pools are those of PyTorch's CUDACachingAllocator, which leaves the order of streams to
// the user (record_stream).
#pragma once

#include <ambit/backend/caching_allocator.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace ambit::cuda {

/// What the allocator needs to know about streams, which it knows by small numbers.
struct StreamOrder {
  virtual ~StreamOrder() = default;
  /// Make all later work of stream `after` wait for what stream `before` holds now.
  virtual void order(int before, int after) = 0;
};

/// Thread-safe.
class BlockAllocator {
 public:
  /// `raw` and `streams` must outlive this; `device_name` is for error texts. Without a cache every
  /// request goes to the system, for its bytes alone, so that tools see where it ends: slow.
  BlockAllocator(RawMemory& raw, StreamOrder& streams, std::string device_name, bool caches = true);
  ~BlockAllocator();
  BlockAllocator(const BlockAllocator&) = delete;
  BlockAllocator& operator=(const BlockAllocator&) = delete;

  /// Return memory for work that `stream` queues from now on, aligned to 512 bytes.
  /// Errors: OutOfMemoryError, after the cache was given back and the system asked again.
  void* allocate(size_t bytes, int stream);
  /// Order `stream` behind all work on the block around `p`, before it queues work on it itself.
  /// Memory that is not of this allocator is left alone.
  void use(const void* p, int stream);
  /// Take back a block. Work on it may still be queued.
  void free(void* p) noexcept;

  MemoryStats stats() const;
  /// Give all free segments back to the system, which waits for the device.
  void empty_cache();

 private:
  struct Block {
    size_t bytes;
    char* segment;         // where the segment begins that it is a part of
    size_t segment_bytes;  // of the whole
    int stream;            // that used it last
    bool in_use;
  };
  using Blocks = std::map<char*, Block>;                     // by address, free ones too
  using FreeBlocks = std::set<std::pair<size_t, char*>>;     // best fit first
  using Pools = std::map<std::pair<int, bool>, FreeBlocks>;  // by stream, and whether small

  Blocks::iterator find_free(size_t bytes, int stream);
  Blocks::iterator adopt(size_t bytes, int stream);
  Blocks::iterator new_segment(size_t bytes, int stream);
  Blocks::iterator merge(Blocks::iterator block) noexcept;
  void split(Blocks::iterator block, size_t bytes);
  void keep(Blocks::iterator block);
  void forget(Blocks::iterator block) noexcept;
  void release_all() noexcept;
  bool is_alone(int stream);

  RawMemory& raw_;
  StreamOrder& streams_;
  const std::string device_name_;
  const bool caches_;
  // The one stream seen so far, or one of the two values below. A program with one thread never
  // has to look its blocks up.
  static constexpr int kNone = -1, kSeveral = -2;
  std::atomic<int> only_stream_{kNone};
  mutable std::mutex mutex_;  // guards what follows, and raw_
  Blocks blocks_;
  Pools free_;
  MemoryStats stats_;
};

}  // namespace ambit::cuda
