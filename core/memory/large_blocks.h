// The large blocks behind a CachingAllocator: cut to the size that is asked for, and joined with
// free neighbours when they come back, so that a step's activations and gradients share memory
// whatever their sizes. The scheme is PyTorch's CUDACachingAllocator's, its segments those that do
// not expand, its pages those that do. Not thread-safe.
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

  /// Return `bytes` of the smallest free block that has them, null where none has or it is much
  /// larger. `now` counts requests.
  char* take(size_t bytes, uint64_t now);
  /// Take over a segment, which is what the system gave at once and takes back whole, as a block in
  /// use.
  void add_segment(Range segment, uint64_t now);
  /// Take over pages, which join with free ones around them and are given back in any pieces.
  void add_pages(Range pages, uint64_t now);
  /// Return where the lowest block begins, and its bytes if they are free; null if it has no pages.
  Range lowest_pages() const;
  /// Return its size, or 0 where there is no memory to remember it: it is lost then.
  size_t give_back(void* p) noexcept;

  struct Oldest {
    Range range;  // empty: there is none
    bool has_pages = false;
    uint64_t last_request = 0;
  };
  /// Return what can be given back and was asked for longest ago: free pages, or a segment without
  /// a block in use.
  Oldest oldest_free() const;
  void remove(Range free) noexcept;

 private:
  struct Block {
    size_t bytes;
    Range segment;  // that it is a part of; empty: pages
    uint64_t last_request;
    bool free;
  };
  using Blocks = std::map<char*, Block, std::less<>, PoolAllocator<std::pair<char* const, Block>>>;
  // Of equal ones the upper comes first, for the reason that take() gives.
  struct BySize {
    bool operator()(const Range& a, const Range& b) const {
      return a.bytes != b.bytes ? a.bytes < b.bytes : std::greater<>()(a.begin, b.begin);
    }
  };

  void join(Blocks::iterator block, Blocks::iterator next) noexcept;

  Blocks blocks_;  // by address, those in use too
  std::set<Range, BySize, PoolAllocator<Range>> free_;
};

}  // namespace ambit
