// The large blocks of a CachingAllocator: split to the requested size and merged with free
// neighbours when freed, so that a step's activations and gradients share memory regardless of
// their sizes. The scheme is that of PyTorch's CUDACachingAllocator: segments are its plain, pages
// its expandable segments. Not thread-safe.
#pragma once

#include <ambit/detail/pooled.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <utility>

namespace ambit {

class LargeBlocks {
 public:
  struct Range {
    char* begin = nullptr;
    size_t bytes = 0;
  };

  /// Return `bytes` of the smallest free block that is large enough; null if there is none or it is
  /// much larger. `now` counts requests.
  char* allocate(size_t bytes, uint64_t now);
  /// Add a segment, memory that is returned to the system only as a whole, as a block in use.
  void add_segment(Range segment, uint64_t now);
  /// Add pages, which merge with adjacent free ones and can be returned in any pieces.
  void add_pages(Range pages, uint64_t now);
  /// Return the start of the lowest block of pages, and its size if it is free; null without pages.
  Range lowest_pages() const;
  /// Free a block and return its size; 0 if there is no memory to record it (it is leaked then).
  size_t free_block(void* p) noexcept;

  struct Oldest {
    Range range;  // empty: none
    bool has_pages = false;
    uint64_t last_request = 0;
  };
  /// Return the least recently requested memory that can be returned: free pages, or a segment
  /// without a block in use.
  Oldest oldest_free() const;
  void remove(Range free) noexcept;

 private:
  struct Block {
    size_t bytes;
    Range segment;  // the segment that contains the block; empty for pages
    uint64_t last_request;
    bool free;
  };
  using Blocks = std::map<char*, Block, std::less<>, PoolAllocator<std::pair<char* const, Block>>>;
  // Among blocks of equal size the upper one comes first; allocate() has the reason.
  struct BySize {
    bool operator()(const Range& a, const Range& b) const {
      return a.bytes != b.bytes ? a.bytes < b.bytes : std::greater<>()(a.begin, b.begin);
    }
  };

  void join(Blocks::iterator block, Blocks::iterator next) noexcept;

  Blocks blocks_;  // by address, including those in use
  std::set<Range, BySize, PoolAllocator<Range>> free_;
};

}  // namespace ambit
