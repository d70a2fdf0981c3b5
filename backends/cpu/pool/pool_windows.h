// What the windows of 2-D pooling cover.
#pragma once

#include <ambit/params.h>
#include <ambit/tensor.h>

#include <algorithm>

#include "backends/cpu/runtime/parallel.h"

namespace ambit::cpu {

/// The planes of x [N,C,H,W] and y [N,C,P,Q].
struct Planes {
  Planes(const Tensor& x, const Tensor& y)
      : N(x.sizes()[0]),
        C(x.sizes()[1]),
        H(x.sizes()[2]),
        W(x.sizes()[3]),
        P(y.sizes()[2]),
        Q(y.sizes()[3]) {}
  int64_t count() const { return N * C; }
  /// As many planes as are worth a thread.
  int64_t grain(const PoolParams& p) const {
    return grain_for(P * Q * p.kernel[0] * p.kernel[1]);
  }
  int64_t N, C, H, W, P, Q;
};

/// What window i covers along one axis of `size`: begin, begin + step, ... before end. `extent`
/// counts padding too, as far as it goes.
struct Span {
  Span(int64_t i, int64_t size, const PoolParams& p, size_t axis) : step(p.dilation[axis]) {
    const int64_t first = i * p.stride[axis] - p.padding[axis];
    const int64_t past = first + step * (p.kernel[axis] - 1) + 1;
    extent = std::min(past, size + p.padding[axis]) - first;
    begin = first >= 0 ? first : first + (-first + step - 1) / step * step;
    end = std::max(begin, std::min(past, size));
  }
  int64_t begin, end, step, extent;
};

}  // namespace ambit::cpu
