// Keeps memory freed by tensors for reuse: the system's allocators are slow, and a training step
// allocates the same sizes each time. ambit's own backends allocate through one CachingAllocator
// per device. The idea is PyTorch's CUDACachingAllocator; here only large blocks are split and
// merged, since small sizes are rounded to few size classes and the backend passes the size to
// free().
#pragma once

#include <ambit/backend/backend.h>
#include <ambit/detail/spin_lock.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace ambit {

/// The system's allocator of one device, wrapped by the cache. Called by one thread at a time.
struct AMBIT_API RawMemory {
  virtual ~RawMemory();
  /// Return memory aligned to 64 bytes, or null if there is not enough.
  virtual void* allocate(size_t bytes) = 0;
  /// Free memory from allocate(bytes).
  virtual void free(void* p, size_t bytes) noexcept = 0;
  /// Return whole pages that end at `end`, where earlier pages begin, or anywhere if `end` is null.
  /// Null: not available; the default implementation supports no pages. free_pages() may get them
  /// back in different pieces from those allocated, so that blocks can grow and merge.
  virtual void* allocate_pages(size_t bytes, void* end);
  /// Free whole pages, also a part of one allocation or several neighbouring ones.
  virtual void free_pages(void* p, size_t bytes) noexcept;
  /// Return how many bytes the device can still allocate; 0: unknown.
  virtual size_t free_bytes() = 0;
  /// Return true if the CPU may dereference the pointers; AddressSanitizer then tracks tensors.
  virtual bool is_host() const { return false; }
};

/// Host memory.
class AMBIT_API HostMemory final : public RawMemory {
 public:
  /// Return null if the request exceeds the machine's memory: Linux would overcommit, and kill the
  /// process on use.
  void* allocate(size_t bytes) override;
  void free(void* p, size_t bytes) noexcept override;  ///< memory from allocate(bytes)
  void* allocate_pages(size_t bytes, void* end) override;
  void free_pages(void* p, size_t bytes) noexcept override;  ///< any whole pages
  size_t free_bytes() override;
  bool is_host() const override { return true; }

  /// Return the machine's memory in bytes.
  static size_t total_bytes();
};

/// Throw OutOfMemoryError with the requested bytes, the device, and the bytes in use, cached and
/// free.
[[noreturn]] AMBIT_API void throw_out_of_memory(const std::string& device_name, size_t requested,
                                                const MemoryStats& stats, size_t free_bytes);

class LargeBlocks;  // core/memory/large_blocks.h

/// A cache of freed blocks in front of a RawMemory. Thread-safe; a hit costs about 20 ns. Sizes are
/// rounded up to multiples of 64 bytes, above 512 bytes to eighths of a power of two, so that a
/// freed block fits every size of its class. Blocks of more than 256 KiB are rounded to pages,
/// split from larger ones and merged with free neighbours. If the memory has allocate_pages(), all
/// neighbours merge, and the total is little more than the peak that tensors held. The total is
/// limited to 64 MiB more than twice that peak; a lower limit fails because blocks do not pack
/// perfectly. Above the limit the least recently requested memory is returned to the system first:
/// pages individually, other large blocks when no part of them is in use.
class AMBIT_API CachingAllocator {
 public:
  /// `raw` must outlive this; `device_name` is for error messages.
  CachingAllocator(RawMemory& raw, std::string device_name);
  ~CachingAllocator();
  CachingAllocator(const CachingAllocator&) = delete;
  CachingAllocator& operator=(const CachingAllocator&) = delete;

  /// Return a block of at least `bytes`. If the system has none left, free the whole cache and
  /// retry. Errors: OutOfMemoryError with requested, in use, cached and free bytes.
  void* allocate(size_t bytes);
  /// Free a block from allocate(bytes), from any thread.
  void free(void* p, size_t bytes) noexcept;
  /// Return the statistics of memory that passed through this allocator.
  MemoryStats stats() const;
  /// Return the cached memory to the system, except unused parts of blocks in use.
  void empty_cache();

 private:
  struct SizeClass {
    std::vector<void*> blocks;  // freed, of one size
    uint64_t last_request = 0;  // number of the last allocate() call for this class

    void* take(uint64_t now) {
      last_request = now;
      if (blocks.empty()) return nullptr;
      void* p = blocks.back();
      blocks.pop_back();
      return p;
    }
  };
  // Eight classes up to 512 bytes, then eight per doubling up to 256 KiB.
  static constexpr size_t kClasses = 8 + (18 - 9) * 8;

  bool add_pages(size_t block_bytes);
  void* allocate_segment(size_t bytes, size_t block_bytes);
  void* allocate_from_system(size_t bytes, size_t block_bytes);
  void release_class(size_t size_class) noexcept;
  bool release_oldest_large() noexcept;
  void release_all() noexcept;
  void trim() noexcept;

  RawMemory& raw_;
  const std::string device_name_;
  mutable SpinLock lock_;  // guards the members below, and raw_
  std::array<SizeClass, kClasses> classes_;
  std::unique_ptr<LargeBlocks> large_;
  MemoryStats stats_;
  uint64_t requests_ = 0;
};

}  // namespace ambit
