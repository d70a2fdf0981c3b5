// Where the elements of a reduction lie. No CUDA here: tested on the host.
#pragma once

#include <ambit/api.h>
#include <ambit/error.h>
#include <ambit/tensor.h>

#include <cstdint>
#include <string>

namespace ambit::cuda {

/// Where the elements of a reduction lie: `kept` walks the results, in row-major order, `reduced`
/// the elements of one. 64-bit positions and offsets: reductions of more than 2^31 elements are one
/// kernel, and their index arithmetic hides behind the reads.
struct ReduceWalk {
  struct Axis {
    int64_t size, stride;
  };
  // More dims of two elements or more, collapsed, than fit into any GPU's memory.
  static constexpr int kMost = 24;
  int kept_dims = 0, reduced_dims = 0;
  Axis kept[kMost], reduced[kMost];  // innermost first

  AMBIT_HOST_DEVICE static int64_t offset(const Axis* axes, int dims, int64_t position) {
    if (dims == 1) return position * axes[0].stride;
    int64_t sum = 0;
    for (int d = 0; d < dims; ++d) {
      const int64_t rest = position / axes[d].size;
      sum += (position - rest * axes[d].size) * axes[d].stride;
      position = rest;
    }
    return sum;
  }
  AMBIT_HOST_DEVICE int64_t kept_offset(int64_t result) const {
    return offset(kept, kept_dims, result);
  }
  AMBIT_HOST_DEVICE int64_t reduced_offset(int64_t position) const {
    return offset(reduced, reduced_dims, position);
  }
};

/// Return the walk of x that keeps the dims where `keeps(d)`, collapsed.
template <class Keeps>
ReduceWalk reduce_walk(const char* op, const Tensor& x, const Keeps& keeps) {
  ReduceWalk walk;
  const auto add = [&](ReduceWalk::Axis* axes, int& dims, int64_t size, int64_t stride) {
    if (size == 1) return;
    if (dims > 0 && stride == axes[dims - 1].size * axes[dims - 1].stride) {
      axes[dims - 1].size *= size;
      return;
    }
    if (dims == ReduceWalk::kMost) {
      throw ShapeError(
          op +
          std::string(": expected at most 24 dims that do not lie behind each other, got more"));
    }
    axes[dims++] = {size, stride};
  };
  for (int64_t d = x.dim(); d-- > 0;) {
    const bool kept = keeps(static_cast<size_t>(d));
    add(kept ? walk.kept : walk.reduced, kept ? walk.kept_dims : walk.reduced_dims, x.size(d),
        x.stride(d));
  }
  return walk;
}

}  // namespace ambit::cuda
