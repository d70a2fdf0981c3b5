// Which elements of the input a pooling window covers, and which windows cover an element.
#pragma once

#include <ambit/api.h>
#include <ambit/params.h>

#include <cstdint>

namespace ambit::cuda {

/// Pooling along h or w: PoolParams and the sizes of one of the two.
struct PoolAxis {
  PoolAxis(const PoolParams& p, size_t d, int64_t in, int64_t out)
      : kernel(p.kernel[d]),
        stride(p.stride[d]),
        padding(p.padding[d]),
        dilation(p.dilation[d]),
        input(in),
        output(out) {}

  /// Elements begin, begin + dilation, ... before end; `extent` counts the padding too, as far as
  /// the padding goes.
  struct Range {
    int64_t begin, end, extent;
  };
  /// Return what window i covers.
  AMBIT_HOST_DEVICE Range window(int64_t i) const {
    int64_t begin = i * stride - padding;
    int64_t end = begin + dilation * (kernel - 1) + 1;
    const int64_t padded = input + padding;
    const int64_t extent = (end < padded ? end : padded) - begin;
    if (begin < 0) begin += (-begin + dilation - 1) / dilation * dilation;
    if (end > input) end = input;
    return {begin, end > begin ? end : begin, extent};
  }
  /// Return the windows [begin, end) among which are all that cover element i.
  AMBIT_HOST_DEVICE Range windows_over(int64_t i) const {
    const int64_t reach = dilation * (kernel - 1);
    const int64_t first = i + padding - reach, last = (i + padding) / stride + 1;
    const int64_t begin = first > 0 ? (first + stride - 1) / stride : 0;
    const int64_t end = last < output ? last : output;
    return {begin, end > begin ? end : begin, 0};
  }
  /// Whether no element is in two windows.
  bool windows_are_apart() const { return stride > dilation * (kernel - 1); }

  int64_t kernel, stride, padding, dilation;  // in elements
  int64_t input, output;                      // sizes
};

}  // namespace ambit::cuda
