// The elements of the input that a pooling window covers, and the windows that cover an element.
#pragma once

#include <ambit/api.h>
#include <ambit/params.h>
#include <ambit/tensor.h>

#include <cstddef>
#include <cstdint>

namespace ambit::cuda {

/// Pooling along one spatial dim: PoolParams and sizes. The defaults are those of a missing dim.
struct PoolAxis {
  PoolAxis() = default;
  PoolAxis(const PoolParams& p, size_t d, int64_t in, int64_t out)
      : kernel(p.kernel[d]),
        stride(p.stride[d]),
        padding(p.padding[d]),
        dilation(p.adaptive ? 1 : p.dilation[d]),
        input(in),
        output(out),
        adaptive(p.adaptive) {}

  /// Elements begin, begin + dilation, ... before end; `extent`: the size of the window within the
  /// padded input.
  struct Range {
    int64_t begin, end, extent;
  };
  /// Return the elements of window i.
  AMBIT_HOST_DEVICE Range window(int64_t i) const {
    if (adaptive) {
      const int64_t begin = i * input / output;
      const int64_t end = ((i + 1) * input + output - 1) / output;
      return {begin, end, end - begin};
    }
    int64_t begin = i * stride - padding;
    int64_t end = begin + dilation * (kernel - 1) + 1;
    const int64_t padded = input + padding;
    const int64_t extent = (end < padded ? end : padded) - begin;
    if (begin < 0) begin += (-begin + dilation - 1) / dilation * dilation;
    if (end > input) end = input;
    return {begin, end > begin ? end : begin, extent};
  }
  /// Return a range of windows [begin, end) that includes all that cover element i.
  AMBIT_HOST_DEVICE Range windows_over(int64_t i) const {
    if (adaptive) return {i * output / input, ((i + 1) * output + input - 1) / input, 0};
    const int64_t reach = dilation * (kernel - 1);
    const int64_t first = i + padding - reach, last = (i + padding) / stride + 1;
    const int64_t begin = first > 0 ? (first + stride - 1) / stride : 0;
    const int64_t end = last < output ? last : output;
    return {begin, end > begin ? end : begin, 0};
  }
  /// Return true if windows do not overlap.
  bool windows_are_apart() const {
    return adaptive ? input % output == 0 : stride > dilation * (kernel - 1);
  }

  int64_t kernel = 1, stride = 1, padding = 0, dilation = 1;  // in elements
  int64_t input = 1, output = 1;                              // sizes
  bool adaptive = false;
};

/// The axes d, h, w of x [N,C,in...] and y [N,C,out...].
struct PoolAxes {
  PoolAxes(const PoolParams& p, const Tensor& x, const Tensor& y) {
    PoolAxis* const axes[] = {&d, &h, &w};
    const auto dims = static_cast<size_t>(x.dim()) - 2;
    for (size_t i = 0; i < dims; ++i) {
      *axes[3 - dims + i] = PoolAxis(p, i, x.sizes()[2 + i], y.sizes()[2 + i]);
    }
  }
  AMBIT_HOST_DEVICE int64_t input() const { return d.input * h.input * w.input; }
  AMBIT_HOST_DEVICE int64_t output() const { return d.output * h.output * w.output; }
  bool windows_are_apart() const {
    return d.windows_are_apart() && h.windows_are_apart() && w.windows_are_apart();
  }

  PoolAxis d, h, w;
};

}  // namespace ambit::cuda
