// Host memory that GPUs copy fastest from, kept for reuse: pinning pages takes the driver longer
// than most copies. A block that a copy may still use when it is freed waits for it here, without
// holding anybody up. No CUDA here: tested on any machine.
#pragma once

#include <ambit/backend/caching_allocator.h>

#include <cstddef>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

namespace ambit::cuda {

/// A point in the work of a stream.
struct Fence {
  virtual ~Fence() = default;
  /// Whether the work before it is done. Must not fail.
  virtual bool passed() noexcept = 0;
  /// Wait until it is. Errors: what failed in the work.
  virtual void wait() = 0;
};

/// Thread-safe.
class PinnedAllocator {
 public:
  /// `raw` must outlive this.
  explicit PinnedAllocator(RawMemory& raw) : raw_(raw) {}
  ~PinnedAllocator();
  PinnedAllocator(const PinnedAllocator&) = delete;
  PinnedAllocator& operator=(const PinnedAllocator&) = delete;

  /// Errors: OutOfMemoryError, after the cache was given back and the system asked again.
  void* allocate(size_t bytes);
  /// Keep the block around `p` from reuse until the fence has passed. Return false for memory that
  /// is not of this allocator, which is left alone.
  bool use(const void* p, std::unique_ptr<Fence> fence);
  /// Wait for all fences of the block around `p`. Errors: those of Fence::wait().
  void wait(const void* p);
  void free(void* p) noexcept;
  MemoryStats stats() const;
  void empty_cache();

 private:
  struct Block {
    size_t bytes;
    std::vector<std::shared_ptr<Fence>> fences;  // of the copies that may still use it
  };

  Block* block_around(const void* p);
  void reap() noexcept;
  void release_all() noexcept;

  RawMemory& raw_;
  mutable std::mutex mutex_;           // guards what follows, and raw_
  std::map<char*, Block> in_use_;      // by address
  std::map<char*, Block> waiting_;     // freed, but a copy may still use them
  std::multimap<size_t, char*> free_;  // by size
  MemoryStats stats_;
};

}  // namespace ambit::cuda
