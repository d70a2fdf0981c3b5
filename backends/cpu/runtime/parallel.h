// Loops over threads. Small work stays on the calling thread: handing it over costs microseconds.
#pragma once

#include <ambit/parallel.h>

#include <algorithm>
#include <cstdint>

namespace ambit::cpu {

/// Elements of one cheap loop (an addition, a copy) that are worth a second thread: about 4 us.
inline constexpr int64_t kGrain = int64_t{1} << 15;
/// Multiply-adds of a product or convolution that are.
inline constexpr int64_t kProductGrain = int64_t{1} << 21;

/// The number of pieces of `size` that n makes, the last one maybe not full.
inline int64_t ceil_div(int64_t n, int64_t size) { return (n + size - 1) / size; }
inline int64_t round_up(int64_t n, int64_t unit) { return ceil_div(n, unit) * unit; }

/// Some of a loop: [begin, end).
using Piece = void(const void* context, int64_t begin, int64_t end);

/// Call piece(context, begin, end) for so many equal parts of [0, n), on all threads that there are
/// and that are free. When all are done, the first exception is thrown on. A forked child starts
/// threads of its own.
void run_pieces(int64_t n, int pieces, Piece* piece, const void* context);
/// Return how many threads a kernel may use that starts here: inside another parallel_for the
/// calling one alone.
int available_threads();
/// Return on how many threads [0, n) shall run, when each shall have `grain` or more.
int count_pieces(int64_t n, int64_t grain);

/// f(begin, end), compiled once for all that call it.
template <class F>
[[gnu::noinline]] void run_piece(const void* f, int64_t begin, int64_t end) {
  (*static_cast<const F*>(f))(begin, end);
}

/// Call f(begin, end) for parts of [0, n) of `grain` or more, on several threads if that gives
/// several parts. Inside another parallel_for everything stays on the calling thread.
template <class F>
void parallel_for(int64_t n, int64_t grain, const F& f) {
  if (n <= 0) return;
  const int pieces = n < 2 * grain ? 1 : count_pieces(n, grain);
  if (pieces == 1) return run_piece<F>(&f, 0, n);
  run_pieces(n, pieces, run_piece<F>, &f);
}

/// The grain for items that cost `work` elementary steps each.
inline int64_t grain_for(int64_t work) {
  return std::max<int64_t>(1, kGrain / std::max<int64_t>(1, work));
}
/// The grain for items of `work` multiply-adds each.
inline int64_t grain_for_products(int64_t work) {
  return std::max<int64_t>(1, kProductGrain / std::max<int64_t>(1, work));
}

}  // namespace ambit::cpu
