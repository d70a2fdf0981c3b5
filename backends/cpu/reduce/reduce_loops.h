// The inner loops of reductions, chosen once per call by function and dtype; as inner_loops.h.
#pragma once

#include <ambit/dtype.h>
#include <ambit/function_table.h>

#include <cstdint>

namespace ambit::cpu {

/// How one function reduces one dtype. Sums and products of float are kept in double, those of
/// integers in int64, which wraps as a narrower result would, variances as arithmetic::Moments; the
/// rest in the dtype itself.
struct Reducer {
  int64_t sum_size;  ///< bytes of what is kept of a result, kMostSumSize at most
  DType dtype;       ///< of results
  /// sums[i] = what reducing nothing gives.
  void (*clear)(int64_t n, void* sums);
  /// *sum = op(*sum, x[0], ..., x[n - 1]).
  void (*fold)(int64_t n, void* sum, const void* x);
  /// sums[i] = op(sums[i], x[i], x[i + stride], ...), of `rows` rows.
  void (*add)(int64_t n, void* sums, const void* x, int64_t rows, int64_t stride);
  /// The same of rows of other sums.
  void (*merge)(int64_t n, void* sums, const void* more, int64_t rows, int64_t stride);
  /// In place of the sums the results of `count` elements each; null where those are the sums.
  void (*finish)(int64_t n, void* sums, int64_t count) = nullptr;
  /// Whether the squares behind n 2-norms of float64 have neither overflowed nor lost digits next
  /// to the smallest numbers; a norm that is NaN has not. Null for other reductions.
  bool (*keep_range)(int64_t n, const void* results) = nullptr;

  static constexpr int64_t kMostSumSize = 24;
};

Reducer reducer(ReduceOp op, DType dtype);

}  // namespace ambit::cpu
