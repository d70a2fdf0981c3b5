// Windows over the spatial dims of [N,C,...]: paddings as given by ONNX's attributes. Private to
// nn/graph/onnx.
#pragma once

#include <ambit/tensor.h>

#include <string_view>

#include "nn/graph/call.h"

namespace ambit::graph::onnx {

/// One number for each spatial dim.
struct Windows {
  Dims kernel, stride, dilation, before, after;  ///< before, after: padding without `extra`
  Dims extra;                                    ///< padding that ceil_mode adds at the end
  Dims outputs;

  /// True if an op with one padding for both sides gives the same result: the paddings are equal
  /// and at most half a window.
  bool is_plain() const;
};

/// Errors: Error for lists whose length is not the number of spatial dims, and for strides below 1.
Windows windows_of(IntArrayRef input, Dims kernel, Dims stride, Dims dilation, Dims pads,
                   std::string_view auto_pad, bool ceil_mode);

/// Pad the spatial dims.
Tensor padded(const Tensor& x, IntArrayRef before, IntArrayRef after, const Scalar& value);

/// Return the elements of all windows, [N, C, outputs..., kernel...], of an input that is padded
/// already.
Tensor unfolded(const Tensor& x, const Windows& w);

}  // namespace ambit::graph::onnx
