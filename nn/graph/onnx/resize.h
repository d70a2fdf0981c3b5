// Interpolation along one dim, as ONNX's Resize defines it. Private to nn/graph/onnx.
#pragma once

#include <ambit/tensor.h>

#include <string_view>

namespace ambit::graph::onnx {

struct ResizeMode {
  std::string_view mode, coordinates, rounding;
  double cubic_a = -0.75, outside = 0;  ///< `outside`: the value that tf_crop_and_resize gives
  bool antialias = false, excludes_outside = false;
};

/// One dim of a resize.
struct ResizedDim {
  int64_t dim = 0, size = 0;  ///< the dim, and its size in the result
  double scale = 1;
  double begin = 0, end = 1;  ///< the region, for tf_crop_and_resize
};

/// Return x resized along one dim, by weighted sums of its elements. x must be floating-point,
/// unless the mode is "nearest". Errors: Error for an unknown mode.
Tensor resized(const Tensor& x, const ResizedDim& d, const ResizeMode& mode);

}  // namespace ambit::graph::onnx
