// The positions of a reduction's elements. Independent of CUDA: tested on the host.
#pragma once

#include <ambit/api.h>
#include <ambit/error.h>
#include <ambit/tensor.h>

#include <algorithm>
#include <cstdint>
#include <string>

namespace ambit::cuda {

/// Exact division of n in [0, 2^63) by a divisor in [1, 2^63) by multiplication: a 64-bit division
/// needs a hundred instructions on a GPU. See Divider in strided.h.
struct LongDivider {
  LongDivider() = default;
  explicit LongDivider(int64_t d) : divisor(d) {
    while (shift < 63 && (int64_t{1} << shift) < d) ++shift;
    const Wide excess = (Wide{1} << shift) - static_cast<Wide>(d);
    multiplier = static_cast<uint64_t>((excess << 64) / static_cast<Wide>(d) + 1);
  }
  AMBIT_HOST_DEVICE int64_t divide(int64_t n) const {
    const auto u = static_cast<uint64_t>(n);
    return static_cast<int64_t>((high_half(u, multiplier) + u) >> shift);
  }

  int64_t divisor = 1;
  uint64_t multiplier = 1;
  int shift = 0;

 private:
  __extension__ typedef unsigned __int128 Wide;
  /// Return the upper 64 bits of a product.
  AMBIT_HOST_DEVICE static uint64_t high_half(uint64_t a, uint64_t b) {
#ifdef __CUDA_ARCH__
    return __umul64hi(a, b);
#else
    return static_cast<uint64_t>((static_cast<Wide>(a) * b) >> 64);
#endif
  }
};

/// The positions of a reduction's elements: `kept` iterates over results in row-major order,
/// `reduced` over the elements of one. Positions are 64-bit, so that reductions of more than 2^31
/// elements are one kernel.
struct ReduceWalk {
  struct Axis {
    LongDivider size;
    int64_t stride = 0;
  };
  // A tensor with more collapsed dims, of at least two elements each, exceeds any GPU's memory.
  static constexpr int kMost = 24;
  int kept_dims = 0, reduced_dims = 0;
  Axis kept[kMost], reduced[kMost];  // innermost first

  AMBIT_HOST_DEVICE static int64_t offset(const Axis* axes, int dims, int64_t position) {
    int64_t sum = 0;
    for (int d = 0; d < dims - 1; ++d) {
      const int64_t rest = axes[d].size.divide(position);
      sum += (position - rest * axes[d].size.divisor) * axes[d].stride;
      position = rest;
    }
    return dims > 0 ? sum + position * axes[dims - 1].stride : 0;  // the last dim needs no division
  }
  AMBIT_HOST_DEVICE int64_t kept_offset(int64_t result) const {
    return offset(kept, kept_dims, result);
  }
  AMBIT_HOST_DEVICE int64_t reduced_offset(int64_t position) const {
    return offset(reduced, reduced_dims, position);
  }
};

/// Iterates over the elements of a result in equal steps. With up to two reduced dims, the usual
/// case, a step is an addition and a carry; with more, the outer ones need divisions.
class ReduceSteps {
 public:
  AMBIT_HOST_DEVICE ReduceSteps(const ReduceWalk& walk, int64_t position, int64_t step)
      : walk_(walk),
        size_(walk.reduced[0].size.divisor),
        outer_(walk.reduced[0].size.divide(position)),
        inner_(position - outer_ * size_),
        step_outer_(walk.reduced[0].size.divide(step)),
        step_inner_(step - step_outer_ * size_),
        offset_(walk.reduced_offset(position)),
        step_offset_(step_inner_ * stride(0) + step_outer_ * stride(1)),
        carry_offset_(stride(1) - size_ * stride(0)) {}

  AMBIT_HOST_DEVICE int64_t offset() const { return offset_; }
  AMBIT_HOST_DEVICE void advance() {
    inner_ += step_inner_;
    outer_ += step_outer_;
    offset_ += step_offset_;
    if (inner_ >= size_) {
      inner_ -= size_;
      ++outer_;
      offset_ += carry_offset_;
    }
    if (walk_.reduced_dims > 2) {
      offset_ = inner_ * stride(0) +
                ReduceWalk::offset(walk_.reduced + 1, walk_.reduced_dims - 1, outer_);
    }
  }

 private:
  AMBIT_HOST_DEVICE int64_t stride(int d) const { return walk_.reduced[d].stride; }

  const ReduceWalk& walk_;
  int64_t size_, outer_, inner_;  // of the innermost reduced dim; positions outside of and in it
  int64_t step_outer_, step_inner_;
  int64_t offset_, step_offset_, carry_offset_;
};

/// Return the collapsed walk of x that keeps the dims d with keeps(d).
template <class Keeps>
ReduceWalk reduce_walk(const char* op, const Tensor& x, const Keeps& keeps) {
  ReduceWalk walk;
  const auto add = [&](ReduceWalk::Axis* axes, int& dims, int64_t size, int64_t stride) {
    if (size == 1) return;
    if (dims > 0 && stride == axes[dims - 1].size.divisor * axes[dims - 1].stride) {
      axes[dims - 1].size.divisor *= size;
      return;
    }
    if (dims == ReduceWalk::kMost) {
      throw ShapeError(op +
                       std::string(": expected at most 24 dims that cannot be merged, got more"));
    }
    axes[dims].size.divisor = size;
    axes[dims++].stride = stride;
  };
  for (int64_t d = x.dim(); d-- > 0;) {
    const bool kept = keeps(static_cast<size_t>(d));
    add(kept ? walk.kept : walk.reduced, kept ? walk.kept_dims : walk.reduced_dims, x.size(d),
        x.stride(d));
  }
  // A size of 0 means that there is nothing to iterate over; avoid dividing by it.
  const auto finish = [](ReduceWalk::Axis* axes, int dims) {
    for (int d = 0; d < dims; ++d) {
      axes[d].size = LongDivider(std::max<int64_t>(axes[d].size.divisor, 1));
    }
  };
  finish(walk.kept, walk.kept_dims);
  finish(walk.reduced, walk.reduced_dims);
  return walk;
}

}  // namespace ambit::cuda
