// Parallel loops. Small work stays on the calling thread: other threads cost microseconds.
#pragma once

#include <ambit/parallel.h>

#include <algorithm>
#include <cstdint>

namespace ambit::cpu {

/// Elements of a cheap loop (an addition, a copy) that are worth a second thread: about 4 us.
inline constexpr int64_t kGrain = int64_t{1} << 15;
/// Multiply-adds of a product or convolution that are worth a second thread.
inline constexpr int64_t kProductGrain = int64_t{1} << 21;

/// Return n / size rounded up.
inline int64_t ceil_div(int64_t n, int64_t size) { return (n + size - 1) / size; }
inline int64_t round_up(int64_t n, int64_t unit) { return ceil_div(n, unit) * unit; }

/// Runs the iterations [begin, end) of a loop.
using Piece = void(const void* context, int64_t begin, int64_t end);

/// Call piece(context, begin, end) for `pieces` equal parts of [0, n) on all free threads, and wait
/// for them. Then rethrow the first exception. A forked child starts its own threads.
void run_pieces(int64_t n, int pieces, Piece* piece, const void* context);
/// Return how many threads a kernel that starts here may use; 1 inside another parallel_for.
int available_threads();
/// Return the number of pieces of [0, n) if each must have at least `grain` iterations.
int count_pieces(int64_t n, int64_t grain);

/// Call f(begin, end); not inlined, so that F is compiled once for serial and parallel calls.
template <class F>
[[gnu::noinline]] void run_piece(const void* f, int64_t begin, int64_t end) {
  (*static_cast<const F*>(f))(begin, end);
}

/// Call f(begin, end) for parts of [0, n) of at least `grain` iterations, on several threads if
/// there are several parts. Inside another parallel_for everything runs on the calling thread.
template <class F>
void parallel_for(int64_t n, int64_t grain, const F& f) {
  if (n <= 0) return;
  const int pieces = n < 2 * grain ? 1 : count_pieces(n, grain);
  if (pieces == 1) return run_piece<F>(&f, 0, n);
  run_pieces(n, pieces, run_piece<F>, &f);
}

/// Return the grain for items of `work` elementary steps each.
inline int64_t grain_for(int64_t work) {
  return std::max<int64_t>(1, kGrain / std::max<int64_t>(1, work));
}
/// Return the grain for items of `work` multiply-adds each.
inline int64_t grain_for_products(int64_t work) {
  return std::max<int64_t>(1, kProductGrain / std::max<int64_t>(1, work));
}

}  // namespace ambit::cpu
