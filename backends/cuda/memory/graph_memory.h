// The memory of a CUDA graph. The graph contains the addresses of its capture, so that this memory
// must not be reused while the graph lives. Independent of CUDA: tested on any machine.
#pragma once

#include <array>
#include <cstddef>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "backends/cuda/driver/stream_clock.h"

namespace ambit::cuda {

/// Accessed only by BlockAllocator, under its mutex.
class GraphMemory {
 public:
  /// `home` owns the memory after the graph is destroyed. Streams are never destroyed.
  explicit GraphMemory(StreamClock& home) : home_(home) {}
  GraphMemory(const GraphMemory&) = delete;
  GraphMemory& operator=(const GraphMemory&) = delete;

 private:
  friend class BlockAllocator;

  StreamClock& home_;
  bool is_capturing_ = true;
  std::vector<char*> segments_;  // segments of allocations in the capture
  std::array<std::set<std::pair<size_t, char*>>, 2> free_;  // free blocks in them: large, small
  std::map<char*, bool> used_;  // other blocks, and whether the graph writes them
};

}  // namespace ambit::cuda
