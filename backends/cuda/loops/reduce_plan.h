// Distribution of a reduction over threads and blocks: host arithmetic, tested without a GPU.
#pragma once

#include <ambit/api.h>

#include <algorithm>
#include <bit>
#include <cstdint>

#include "backends/cuda/runtime/launch.h"

namespace ambit::cuda {

/// A block of kThreads threads computes `outputs` results, each by `lanes` threads that loop over
/// the reduced elements and then join their results in a tree. If there are few results, `splits`
/// blocks share each, and a second kernel joins theirs. The plan depends only on sizes, so that the
/// order of a sum is fixed.
struct ReducePlan {
  int64_t results = 0, length = 0;    ///< in total; elements per result
  int outputs = 1, lanes = kThreads;  ///< powers of two with outputs * lanes == kThreads
  bool lanes_adjacent = true;         ///< adjacent threads share a result
  int64_t splits = 1;
  int64_t part = 0, longer_parts = 0;  ///< elements per split; the first longer_parts have one more

  int64_t blocks() const { return (results + outputs - 1) / outputs * splits; }
  /// Return the first element of a split; split `splits` is the end.
  AMBIT_HOST_DEVICE int64_t split_begin(int64_t split) const {
    return part * split + (split < longer_parts ? split : longer_parts);
  }
  void split_into(int64_t n) {
    splits = n;
    part = length / n;
    longer_parts = length % n;
  }
};

/// `along_memory`: adjacent reduced elements are closer in memory than those of adjacent results.
/// `processors`: number of multiprocessors to fill.
inline ReducePlan plan_reduce(int64_t results, int64_t length, bool along_memory, int processors) {
  // With fewer elements per thread, joining would dominate.
  constexpr int64_t kElementsPerThread = 4;
  constexpr int64_t kLeastPerSplit = 1024, kMostSplits = 1024;
  ReducePlan plan{results, length};
  plan.lanes_adjacent = along_memory;
  const int64_t useful = std::clamp<int64_t>(length / kElementsPerThread, 1, kThreads);
  auto lanes = static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(useful)));
  if (!along_memory) {
    // A warp reads adjacent elements of up to 32 results.
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
