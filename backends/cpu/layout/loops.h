// Loops of an elementwise kernel: the common shape of the operands without dims of size 1, ordered
// by the output's strides, with dims merged where all operands allow it. Operands that are all
// contiguous become a single run, whatever their shape. A run is the innermost dim: the elements of
// one inner loop.
#pragma once

#include <ambit/tensor.h>

#include <array>

#include "backends/cpu/runtime/parallel.h"

namespace ambit::cpu {

/// Operands 0 .. N-1, the output first. Strides are in elements. There is always an innermost dim.
template <size_t N>
struct Loops {
  int64_t numel = 0;
  Dims sizes;                   // outermost first
  std::array<Dims, N> strides;  // one list for each operand

  int64_t inner_size() const { return sizes.back(); }
  /// Return the operand's stride along a run.
  int64_t inner_stride(size_t operand) const { return strides[operand].back(); }
};

/// Sort and merge the dims of `sizes` and of the `operands` stride lists.
void collapse(Dims& sizes, Dims* strides, size_t operands);

/// Return the loops over operands of one shape.
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

/// Iterates over runs in row-major order, starting at a given run.
template <size_t N>
class RunWalk {
 public:
  RunWalk(const Loops<N>& loops, int64_t run);

  /// Return the position of element i of the run: the offset in each operand, in elements.
  std::array<int64_t, N> at(int64_t i) const {
    std::array<int64_t, N> offsets = offsets_;
    for (size_t operand = 0; operand < N; ++operand) {
      offsets[operand] += i * loops_.inner_stride(operand);
    }
    return offsets;
  }
  void next() {
    if (--row_left_ == 0) return next_row();
    for (size_t operand = 0; operand < N; ++operand) offsets_[operand] += steps_[operand];
  }

 private:
  void next_row();

  const Loops<N>& loops_;
  Dims at_;                           // index in the dims outside of a run
  std::array<int64_t, N> offsets_{};  // offset of the run's first element in each operand
  std::array<int64_t, N> steps_{};    // from run to run: along the innermost of those dims
  int64_t row_left_ = 1;              // runs in this row, including the current one
};

/// Call f(n, offsets) for elements [begin, end) in row-major order: n elements of one run, which
/// start at `offsets` elements in each operand. Requires begin < end.
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

/// As for_runs, for all elements; on several threads if there are many.
template <size_t N, class F>
void parallel_runs(const Loops<N>& loops, int64_t grain, const F& f) {
  if (loops.numel == 0) return;
  parallel_for(loops.numel, grain,
               [&](int64_t begin, int64_t end) { for_runs(loops, begin, end, f); });
}

}  // namespace ambit::cpu
