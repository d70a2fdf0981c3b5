// Inner loops of reductions, chosen once per call by function and dtype; see inner_loops.h.
#pragma once

#include <ambit/dtype.h>
#include <ambit/function_table.h>

#include <cstdint>

namespace ambit::cpu {

/// The loops of one function for one dtype. Accumulators of sums and products are double for
/// floats and int64 for integers, which wraps consistently with narrower types; those of variances
/// are arithmetic::Moments, and those of other functions have the dtype itself.
struct Reducer {
  int64_t sum_size;  ///< bytes of the accumulator of a result, at most kMostSumSize
  DType dtype;       ///< of results
  /// sums[i] = the result of an empty reduction.
  void (*clear)(int64_t n, void* sums);
  /// *sum = op(*sum, x[0], ..., x[n - 1]).
  void (*fold)(int64_t n, void* sum, const void* x);
  /// sums[i] = op(sums[i], x[i], x[i + stride], ...), for `rows` rows.
  void (*add)(int64_t n, void* sums, const void* x, int64_t rows, int64_t stride);
  /// As add, for rows of partial sums.
  void (*merge)(int64_t n, void* sums, const void* more, int64_t rows, int64_t stride);
  /// Replace sums by results of `count` elements each; null if the sums are the results.
  void (*finish)(int64_t n, void* sums, int64_t count) = nullptr;
  /// Return true if no sum of squares of n float64 2-norms overflowed or lost digits near the
  /// smallest numbers; NaN counts as in range. Null for other reductions.
  bool (*keep_range)(int64_t n, const void* results) = nullptr;

  static constexpr int64_t kMostSumSize = 24;
};

Reducer reducer(ReduceOp op, DType dtype);

}  // namespace ambit::cpu
