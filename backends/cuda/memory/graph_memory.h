// The memory that one CUDA graph uses. Its work has the addresses of the capture in it, so that
// nobody else may get that memory as long as the graph lives. No CUDA here: tested on any machine.
#pragma once

#include <array>
#include <cstddef>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "backends/cuda/driver/stream_clock.h"

namespace ambit::cuda {

/// Filled and read by BlockAllocator alone, under its lock.
class GraphMemory {
 public:
  /// What was the graph's is `home`'s when the graph is gone. Streams are never destroyed.
  explicit GraphMemory(StreamClock& home) : home_(home) {}
  GraphMemory(const GraphMemory&) = delete;
  GraphMemory& operator=(const GraphMemory&) = delete;

 private:
  friend class BlockAllocator;

  StreamClock& home_;
  bool is_capturing_ = true;
  std::vector<char*> segments_;                             // of what was allocated in the capture
  std::array<std::set<std::pair<size_t, char*>>, 2> free_;  // blocks there, large and small ones
  std::map<char*, bool> used_;  // blocks of others, and whether the graph writes them
};

}  // namespace ambit::cuda
