// 2-D pooling: input [N,C,H,W] -> [N,C,P,Q], or [C,H,W] -> [C,P,Q], floating point. But for the
// adaptive one
//   P = floor((H + 2 padding - dilation (kernel - 1) - 1) / stride) + 1, Q likewise of W
// With ceil_mode the quotient is rounded up, unless the last window would then begin behind the
// input and its left padding, that is (P - 1) stride >= H + padding: such a window is left out.
// kernel, stride, dilation >= 1 and padding from 0 to kernel / 2, in elements (h, w).
// Errors of all: ShapeError (also for H or W of 0), DTypeError; Error for an undefined input.
// Gradient: input. Source: Dumoulin & Visin 2016, arXiv:1603.07285, section 3.
#pragma once

#include <ambit/params.h>
#include <ambit/tensor.h>

#include <concepts>

namespace ambit {

/// Take the maximum of each window.
///   out[n,c,i,j] = max over r, s of input[n, c, i stride + r dilation - padding, ...]
/// Padding counts as minus infinity; NaN wins. Errors also: ShapeError for planes of 2^31 elements
/// or more, and for dilated windows that meet padding only. Gradient: all to the maximum, of equals
/// to the first.
AMBIT_API Tensor max_pool2d(const Tensor& input, const Pool2dParams& params);
/// The same, and the position h * W + w in its plane of each maximum, the first of equals; int64.
AMBIT_API std::tuple<Tensor, Tensor> max_pool2d_with_indices(const Tensor& input,
                                                             const Pool2dParams& params);
/// With libtorch's arguments: max_pool2d(x, 2), max_pool2d(x, 3, {2, 1}, 1).
template <std::integral Size>
Tensor max_pool2d(const Tensor& input, Size kernel) {
  return max_pool2d(input, Pool2dParams{{kernel}});
}
inline Tensor max_pool2d(const Tensor& input, IntOrPair kernel, IntOrPair stride,
                         IntOrPair padding = 0, IntOrPair dilation = 1, bool ceil_mode = false) {
  return max_pool2d(input, Pool2dParams{kernel, stride, padding, dilation, ceil_mode});
}
/// Take the mean of each window.
///   out[n,c,i,j] = sum over r, s of input[n, c, i stride + r - padding, ...] / divisor
/// Padding is zero. divisor: the window's elements in the padded input, or with count_include_pad
/// false in the input alone. Errors also: ShapeError for a dilation other than 1.
AMBIT_API Tensor avg_pool2d(const Tensor& input, const Pool2dParams& params);
/// With libtorch's arguments: avg_pool2d(x, 2), avg_pool2d(x, 3, {2, 1}, 1).
template <std::integral Size>
Tensor avg_pool2d(const Tensor& input, Size kernel) {
  return avg_pool2d(input, Pool2dParams{{kernel}});
}
inline Tensor avg_pool2d(const Tensor& input, IntOrPair kernel, IntOrPair stride,
                         IntOrPair padding = 0, bool ceil_mode = false,
                         bool count_include_pad = true) {
  return avg_pool2d(input,
                    Pool2dParams{kernel, stride, padding, {1}, ceil_mode, count_include_pad});
}
/// Take means over windows so chosen that the output is [N,C,P,Q] or [C,P,Q], output_size (P, Q).
///   window i: from floor(i H / P) up to ceil((i + 1) H / P), which is not in it; j likewise
/// output_size >= 0, where 0 gives a tensor without elements; -1 keeps the input's size. Source:
/// torch.nn.AdaptiveAvgPool2d.
AMBIT_API Tensor adaptive_avg_pool2d(const Tensor& input, IntOrPair output_size);

}  // namespace ambit
