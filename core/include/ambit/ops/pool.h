// 2-D pooling of [N,C,H,W] or [C,H,W], floating point.
// Errors of all: ShapeError, DTypeError. Gradient: input.
#pragma once

#include <ambit/params.h>
#include <ambit/tensor.h>

namespace ambit {

/// Maximum of each window, padding counting as minus infinity; NaN wins.
AMBIT_API Tensor max_pool2d(const Tensor& input, const Pool2dParams& params);
/// The same with the position h * W + w of each maximum, int64, the first of equals.
AMBIT_API std::tuple<Tensor, Tensor> max_pool2d_with_indices(const Tensor& input,
                                                             const Pool2dParams& params);
/// Mean of each window; padding is zero and counts in the divisor unless count_include_pad is
/// false.
AMBIT_API Tensor avg_pool2d(const Tensor& input, const Pool2dParams& params);
/// Mean over windows so chosen that the output is [N,C,output_size]; -1 keeps the input's size.
AMBIT_API Tensor adaptive_avg_pool2d(const Tensor& input, Pair output_size);

}  // namespace ambit
