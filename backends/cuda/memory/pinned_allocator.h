// A cache of pinned host memory, which GPUs copy fastest: pinning pages takes longer than most
// copies. A freed block that copies may still use is kept aside until they are done; nothing waits
// for it. Independent of CUDA: tested on any machine.
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
  /// Return true if all work before the fence is done. Must not fail.
  virtual bool passed() noexcept = 0;
  /// Block until the work is done. Errors: the error of the work.
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

  /// Errors: OutOfMemoryError, after returning the cache to the system and trying again.
  void* allocate(size_t bytes);
  /// Do not reuse the block around `p` before the fence has passed. Return false, without effect,
  /// for memory of other allocators.
  bool use(const void* p, std::unique_ptr<Fence> fence);
  /// Wait for all fences of the block around `p`. Errors: those of Fence::wait().
  void wait(const void* p);
  void free(void* p) noexcept;
  MemoryStats stats() const;
  void empty_cache();

 private:
  struct Block {
    size_t bytes;
    std::vector<std::shared_ptr<Fence>> fences;  // of copies that may still use the block
  };

  Block* block_around(const void* p);
  void reap() noexcept;
  void release_all() noexcept;

  RawMemory& raw_;
  mutable std::mutex mutex_;           // guards the members below, and raw_
  std::map<char*, Block> in_use_;      // by address
  std::map<char*, Block> waiting_;     // freed, but a copy may still use them
  std::multimap<size_t, char*> free_;  // by size
  MemoryStats stats_;
};

}  // namespace ambit::cuda
