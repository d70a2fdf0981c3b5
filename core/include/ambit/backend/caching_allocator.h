// Keeps the memory that tensors free and hands it out again: the system's allocators are slow, and
// a training step asks for the same sizes each time. ambit's own backends allocate
// through one of these per device. The idea is PyTorch's CUDACachingAllocator; its splitting and
// merging only of large blocks, since small sizes are rounded to few classes and the backend passes
// the size back on free.
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

/// The system's allocator of one device, below the cache. Called by one thread at a time.
struct AMBIT_API RawMemory {
  virtual ~RawMemory();
  /// Return memory aligned to 64, or null when there is not enough.
  virtual void* allocate(size_t bytes) = 0;
  virtual void free(void* p, size_t bytes) noexcept = 0;
  /// Return whole pages that end where `end` does, which others begin at, or, if it is null, lie
  /// anywhere. Null: there are none, or, as here, no such memory. They may come back to
  /// free_pages() in other pieces than they were given in, so that blocks grow and join.
  virtual void* allocate_pages(size_t bytes, void* end);
  virtual void free_pages(void* p, size_t bytes) noexcept;
  /// Return how many bytes the device could still give; 0: unknown.
  virtual size_t free_bytes() = 0;
  /// Whether the CPU may follow its pointers: AddressSanitizer then watches what tensors hold.
  virtual bool is_host() const { return false; }
};

/// Plain memory of the CPU.
class AMBIT_API HostMemory final : public RawMemory {
 public:
  /// Refuse more than the machine has: Linux would promise it, and end the process when it is used.
  void* allocate(size_t bytes) override;
  void free(void* p, size_t bytes) noexcept override;
  void* allocate_pages(size_t bytes, void* end) override;
  void free_pages(void* p, size_t bytes) noexcept override;
  size_t free_bytes() override;
  bool is_host() const override { return true; }

  /// Return the machine's memory in bytes.
  static size_t total_bytes();
};

/// Throw OutOfMemoryError: what was requested on which device, and the bytes in use, cached and
/// free.
[[noreturn]] AMBIT_API void throw_out_of_memory(const std::string& device_name, size_t requested,
                                                const MemoryStats& stats, size_t free_bytes);

class LargeBlocks;  // core/memory/large_blocks.h

/// A cache of freed blocks in front of a RawMemory. Thread-safe; a hit costs about 20 ns.
/// Sizes are rounded up to multiples of 64 bytes, above 512 bytes to eighths of a power of two, so
/// that a freed block serves every size of its class. Blocks of more than 256 KiB, which are
/// rounded to pages, are cut from larger ones and joined again, with all their neighbours where the
/// memory has allocate_pages(): what it holds then is little more than what tensors do at their
/// peak. All in all it holds at most 64 MiB more than twice what tensors have held at their peak:
/// blocks do not fit each other so well that less would do. Beyond that what nobody asked for
/// longest is given back to the system first: pages each for itself, other large blocks when no
/// part of them is in use.
class AMBIT_API CachingAllocator {
 public:
  /// `raw` must outlive this; `device_name` is for error texts.
  CachingAllocator(RawMemory& raw, std::string device_name);
  ~CachingAllocator();
  CachingAllocator(const CachingAllocator&) = delete;
  CachingAllocator& operator=(const CachingAllocator&) = delete;

  /// Return a block of at least `bytes`. When the system has none left, give back the whole cache
  /// and ask again. Errors: OutOfMemoryError with requested, in use, cached and free bytes.
  void* allocate(size_t bytes);
  /// Take back a block from allocate(bytes), any thread's.
  void free(void* p, size_t bytes) noexcept;
  MemoryStats stats() const;
  void empty_cache();

 private:
  struct SizeClass {
    std::vector<void*> blocks;  // freed, of one size
    uint64_t last_request = 0;  // when allocate() last asked, in calls

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
  mutable SpinLock lock_;  // guards what follows, and raw_
  std::array<SizeClass, kClasses> classes_;
  std::unique_ptr<LargeBlocks> large_;
  MemoryStats stats_;
  uint64_t requests_ = 0;
};

}  // namespace ambit
