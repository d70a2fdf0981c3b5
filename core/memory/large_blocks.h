// The large blocks behind a CachingAllocator: cut to the size that is asked for, and joined with
// free neighbours when they come back, so that a step's activations and gradients share memory
// whatever their sizes. The scheme is PyTorch's CUDACachingAllocator's. Not thread-safe.
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
  /// Take over a segment, which is what the system gave at once, as a block in use.
  void add_segment(Range segment, uint64_t now);
  /// Return its size, or 0 where there is no memory to remember it: it is lost then.
  size_t give_back(void* p) noexcept;

  /// Return the segment without a block in use that was asked for longest ago, and when; an empty
  /// one where there is none.
  std::pair<Range, uint64_t> oldest_free_segment() const;
  void remove_segment(Range free_segment) noexcept;

 private:
  struct Block {
    size_t bytes;
    Range segment;  // that it is a part of
    uint64_t last_request;
    bool free;
  };
  using Blocks = std::map<char*, Block, std::less<>, PoolAllocator<std::pair<char* const, Block>>>;
  using Size = std::pair<size_t, char*>;

  void join(Blocks::iterator block, Blocks::iterator next) noexcept;

  Blocks blocks_;  // by address, those in use too
  std::set<Size, std::less<>, PoolAllocator<Size>> free_;
};

}  // namespace ambit
