// The geometry that an elementwise kernel walks: the operands' common shape with sizes of 1
// dropped, dims ordered by the output's strides and joined where all operands allow it. What is
// contiguous in all operands becomes a single run, whatever its shape. A run is what neighbours
// along the innermost dim: the elements of one inner loop.
#pragma once

#include <ambit/tensor.h>

#include <array>

#include "backends/cpu/runtime/parallel.h"

namespace ambit::cpu {

/// Operands 0 .. N-1, the output first. Strides in elements. There is always an innermost dim.
template <size_t N>
struct Loops {
  int64_t numel = 0;
  Dims sizes;                   // outermost first
  std::array<Dims, N> strides;  // of each operand

  int64_t inner_size() const { return sizes.back(); }
  /// Return the operand's stride along a run.
  int64_t inner_stride(size_t operand) const { return strides[operand].back(); }
};

/// Sort and join the dims of `sizes` and of the `operands` stride lists.
void collapse(Dims& sizes, Dims* strides, size_t operands);

/// Make the loops over operands of one shape.
template <size_t N>
Loops<N> make_loops(const std::array<const Tensor*, N>& operands) {
  Loops<N> loops;
  loops.numel = operands[0]->numel();
  bool contiguous = true;
  for (const Tensor* t : operands) contiguous = contiguous && t->is_contiguous();
  if (contiguous) {
    loops.sizes = {loops.numel};
    loops.strides.fill(Dims{1});
    return loops;
  }
  loops.sizes = operands[0]->sizes();
  for (size_t i = 0; i < N; ++i) loops.strides[i] = operands[i]->strides();
  collapse(loops.sizes, loops.strides.data(), N);
  return loops;
}

/// Call f(n, offsets) for elements [begin, end) in row-major order: n of them in one run, which
/// start at `offsets` elements from each operand's first.
template <size_t N, class F>
void for_runs(const Loops<N>& loops, int64_t begin, int64_t end, const F& f) {
  const size_t last = loops.sizes.size() - 1;
  Dims at(loops.sizes.size());
  int64_t rest = begin;
  for (size_t d = last + 1; d-- > 0;) {
    at[d] = rest % loops.sizes[d];
    rest /= loops.sizes[d];
  }
  std::array<int64_t, N> offsets{};
  for (size_t i = 0; i < N; ++i) {
    for (size_t d = 0; d <= last; ++d) offsets[i] += at[d] * loops.strides[i][d];
  }
  while (begin < end) {
    const int64_t n = std::min(end - begin, loops.sizes[last] - at[last]);
    f(n, offsets);
    begin += n;
    // To the start of the next run: this one's first element, then a step of the next dim that has
    // one left.
    for (size_t i = 0; i < N; ++i) offsets[i] -= at[last] * loops.strides[i][last];
    at[last] = 0;
    for (size_t d = last; d-- > 0;) {
      for (size_t i = 0; i < N; ++i) offsets[i] += loops.strides[i][d];
      if (++at[d] < loops.sizes[d]) break;
      for (size_t i = 0; i < N; ++i) offsets[i] -= at[d] * loops.strides[i][d];
      at[d] = 0;
    }
  }
}

/// The same for all elements, on several threads where there are many.
template <size_t N, class F>
void parallel_runs(const Loops<N>& loops, int64_t grain, const F& f) {
  if (loops.numel == 0) return;
  parallel_for(loops.numel, grain,
               [&](int64_t begin, int64_t end) { for_runs(loops, begin, end, f); });
}

}  // namespace ambit::cpu
