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

/// A walk over the runs of loops in row-major order, from one of them on.
template <size_t N>
class RunWalk {
 public:
  RunWalk(const Loops<N>& loops, int64_t run);

  /// Return where element i of the run is: elements from each operand's first.
  std::array<int64_t, N> at(int64_t i) const {
    std::array<int64_t, N> places = places_;
    for (size_t operand = 0; operand < N; ++operand) {
      places[operand] += i * loops_.inner_stride(operand);
    }
    return places;
  }
  void next() {
    if (--row_left_ == 0) return next_row();
    for (size_t operand = 0; operand < N; ++operand) places_[operand] += steps_[operand];
  }

 private:
  void next_row();

  const Loops<N>& loops_;
  Dims at_;                          // in the dims outside of a run
  std::array<int64_t, N> places_{};  // of its first elements
  std::array<int64_t, N> steps_{};   // in a row of runs: in the innermost of those dims
  int64_t row_left_ = 1;             // with this run
};

/// Call f(n, offsets) for elements [begin, end) in row-major order: n of them in one run, which
/// start at `offsets` elements from each operand's first. There are elements.
template <size_t N, class F>
void for_runs(const Loops<N>& loops, int64_t begin, int64_t end, const F& f) {
  const int64_t size = loops.inner_size();
  int64_t first = begin % size;
  for (RunWalk<N> walk(loops, begin / size); begin < end; walk.next()) {
    const int64_t n = std::min(end - begin, size - first);
    f(n, walk.at(first));
    begin += n;
    first = 0;
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
