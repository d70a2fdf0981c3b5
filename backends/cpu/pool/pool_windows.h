// The elements that pooling windows cover, in one to three spatial dims.
#pragma once

#include <ambit/params.h>
#include <ambit/tensor.h>

#include <algorithm>

#include "backends/cpu/runtime/parallel.h"

namespace ambit::cpu {

/// One spatial dim, with `in` elements of x and `out` of y. The defaults are those of a missing
/// dim.
struct PoolAxis {
  int64_t in = 1, out = 1;
  int64_t kernel = 1;  ///< for adaptive windows the longest one
  int64_t stride = 1;  ///< 0 for adaptive windows
  int64_t padding = 0, dilation = 1;
};

/// The elements of window i along one axis: begin, begin + step, ... before end. `extent`: the size
/// of the window within the padded input.
struct Span {
  Span(int64_t i, const PoolAxis& a) : step(a.dilation) {
    if (a.stride == 0) {
      begin = i * a.in / a.out;
      end = ((i + 1) * a.in + a.out - 1) / a.out;
      extent = end - begin;
      return;
    }
    const int64_t first = i * a.stride - a.padding;
    const int64_t past = first + step * (a.kernel - 1) + 1;
    extent = std::min(past, a.in + a.padding) - first;
    begin = first >= 0 ? first : first + (-first + step - 1) / step * step;
    end = std::max(begin, std::min(past, a.in));
  }
  /// Return the number of elements; requires step 1.
  int64_t size() const { return end - begin; }
  int64_t begin, end, step, extent;
};

/// The images of x [N,C,in...] and y [N,C,out...].
struct PoolImages {
  PoolImages(const Tensor& x, const Tensor& y, const PoolParams& p)
      : N(x.sizes()[0]), C(x.sizes()[1]) {
    PoolAxis* const axes[] = {&d, &h, &w};
    const auto dims = static_cast<size_t>(x.dim()) - 2;
    for (size_t i = 0; i < dims; ++i) {
      PoolAxis& a = *axes[3 - dims + i];
      a.in = x.sizes()[2 + i];
      a.out = y.sizes()[2 + i];
      if (p.adaptive) {
        a.kernel = std::min(a.in, (a.in + a.out - 1) / a.out + 1);
        a.stride = 0;
      } else {
        a.kernel = p.kernel[i];
        a.stride = p.stride[i];
        a.padding = p.padding[i];
        a.dilation = p.dilation[i];
      }
    }
  }
  int64_t count() const { return N * C; }
  int64_t in() const { return d.in * h.in * w.in; }
  int64_t out() const { return d.out * h.out * w.out; }
  int64_t window() const { return d.kernel * h.kernel * w.kernel; }
  /// Grains: the number of images, and of rows of y, that are worth a second thread.
  int64_t grain() const { return grain_for(out() * window()); }
  int64_t row_grain() const { return grain_for(w.out * window()); }

  int64_t N, C;
  PoolAxis d, h, w;
};

}  // namespace ambit::cpu
