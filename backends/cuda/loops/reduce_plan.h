// How a reduction is spread over threads and blocks: host arithmetic, tested without a GPU.
#pragma once

#include <ambit/api.h>

#include <algorithm>
#include <bit>
#include <cstdint>

#include "backends/cuda/runtime/launch.h"

namespace ambit::cuda {

/// A block of kThreads threads makes `outputs` results, each with `lanes` threads that walk the
/// reduced elements side by side and then join their results in a tree. When there are few results,
/// `splits` blocks share each of them and a second kernel joins theirs. The shape depends on sizes
/// alone, so the order of a sum is always the same.
struct ReducePlan {
  int64_t results = 0, length = 0;    ///< of the whole; elements that each result is made of
  int outputs = 1, lanes = kThreads;  ///< powers of two, outputs * lanes == kThreads
  bool lanes_adjacent = true;         ///< neighbouring threads: lanes of a result, or else results
  int64_t splits = 1;
  int64_t part = 0, longer_parts = 0;  ///< elements of a split; the first ones have one more

  int64_t blocks() const { return (results + outputs - 1) / outputs * splits; }
  /// Return the element that a split begins with; split `splits` is the end.
  AMBIT_HOST_DEVICE int64_t split_begin(int64_t split) const {
    return part * split + (split < longer_parts ? split : longer_parts);
  }
  void split_into(int64_t n) {
    splits = n;
    part = length / n;
    longer_parts = length % n;
  }
};

/// `along_memory`: neighbouring reduced elements are closer in memory than those of neighbouring
/// results. `processors`: multiprocessors to be filled.
inline ReducePlan plan_reduce(int64_t results, int64_t length, bool along_memory, int processors) {
  // A thread that takes fewer elements than this is not worth its part in the tree.
  constexpr int64_t kElementsPerThread = 4;
  constexpr int64_t kLeastPerSplit = 1024, kMostSplits = 1024;
  ReducePlan plan{results, length};
  plan.lanes_adjacent = along_memory;
  const int64_t useful = std::clamp<int64_t>(length / kElementsPerThread, 1, kThreads);
  auto lanes = static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(useful)));
  if (!along_memory) {
    // A warp reads one line of memory, of 32 results.
    const int64_t side_by_side =
        std::bit_ceil(static_cast<uint64_t>(std::min<int64_t>(results, 32)));
    lanes = std::min(lanes, kThreads / side_by_side);
  }
  plan.lanes = static_cast<int>(lanes);
  plan.outputs = kThreads / plan.lanes;
  const int64_t blocks = plan.blocks(), wanted = int64_t{processors} * 4;
  plan.split_into(blocks < wanted
                      ? std::clamp<int64_t>(std::min(wanted / std::max<int64_t>(blocks, 1),
                                                     length / kLeastPerSplit),
                                            1, kMostSplits)
                      : 1);
  return plan;
}

}  // namespace ambit::cuda
