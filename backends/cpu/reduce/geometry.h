// The loops of a reduction.
#pragma once

#include <ambit/tensor.h>

#include <array>

#include "backends/cpu/layout/loops.h"

namespace ambit::cpu {

/// The dims of x, sorted by stride and joined, in two sets: those that y has and those that are
/// reduced.
struct Geometry {
  Loops<2> kept;     // of y and x
  Loops<1> reduced;  // of x
  bool inner_kept;   // whether the dim with the smallest stride is in y
};

inline Geometry geometry_of(const Tensor& y, const Tensor& x) {
  Dims sizes = x.sizes();
  std::array<Dims, 2> strides{Dims(x.strides()), Dims(y.strides())};
  for (size_t d = 0; d < sizes.size(); ++d) {
    if (y.sizes()[d] == 1) strides[1][d] = 0;
  }
  collapse(sizes, strides.data(), 2);
  Geometry g;
  g.kept.numel = g.reduced.numel = 1;
  g.inner_kept = strides[1].back() != 0;
  for (size_t d = 0; d < sizes.size(); ++d) {
    if (strides[1][d] != 0) {
      g.kept.numel *= sizes[d];
      g.kept.sizes.push_back(sizes[d]);
      g.kept.strides[0].push_back(strides[1][d]);
      g.kept.strides[1].push_back(strides[0][d]);
    } else {
      g.reduced.numel *= sizes[d];
      g.reduced.sizes.push_back(sizes[d]);
      g.reduced.strides[0].push_back(strides[0][d]);
    }
  }
  return g;
}

template <size_t N>
void complete(Loops<N>& loops) {
  if (!loops.sizes.empty()) return;
  loops.sizes.push_back(1);
  for (Dims& s : loops.strides) s.push_back(1);
}

}  // namespace ambit::cpu
