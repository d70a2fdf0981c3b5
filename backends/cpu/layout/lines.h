// Loops over all lines of tensors along one dim, for kernels that process whole lines.
#pragma once

#include "loops.h"

namespace ambit::cpu {

/// A line of a tensor: its length, and its step in elements. A 0-dim tensor is a line of length 1.
struct Line {
  Line() = default;
  Line(const Tensor& t, int64_t dim) {
    if (t.dim() == 0) return;
    length = t.sizes()[static_cast<size_t>(dim)];
    step = t.strides()[static_cast<size_t>(dim)];
  }
  int64_t length = 1, step = 1;
};

/// Return the loops over the first elements of all lines along `dim`. The operands agree in all
/// other sizes; the loops are ordered by the first operand's strides.
template <size_t N>
Loops<N> make_line_loops(const std::array<const Tensor*, N>& operands, int64_t dim) {
  Loops<N> loops;
  loops.sizes = operands[0]->sizes();
  for (size_t i = 0; i < N; ++i) loops.strides[i] = operands[i]->strides();
  if (!loops.sizes.empty()) loops.sizes[static_cast<size_t>(dim)] = 1;
  loops.numel = 1;
  for (int64_t size : loops.sizes) loops.numel *= size;
  collapse(loops.sizes, loops.strides.data(), N);
  return loops;
}

}  // namespace ambit::cpu
