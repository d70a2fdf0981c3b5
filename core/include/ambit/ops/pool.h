// Pooling in one to three spatial dims: input [N,C,L] -> [N,C,P], [N,C,H,W] -> [N,C,P,Q],
// [N,C,D,H,W] -> [N,C,O,P,Q], or all without N; floating point, and where stated also integers.
// Except for adaptive pooling:
//   P = floor((H + 2 padding - dilation (kernel - 1) - 1) / stride) + 1, the others likewise
// With ceil_mode the quotient is rounded up, unless the last window would start after the input and
// its left padding: (P - 1) stride >= H + padding; such a window is omitted. kernel, stride,
// dilation >= 1 and padding from 0 to kernel / 2, in elements: one number for each spatial dim, or
// one for all; default stride: kernel. Errors of all: ShapeError (also for spatial sizes of 0),
// DTypeError; Error for an undefined input or more numbers than dims. Gradient: input. Source:
// Dumoulin & Visin 2016, arXiv:1603.07285, section 3.
#pragma once

#include <ambit/error.h>
#include <ambit/params.h>
#include <ambit/tensor.h>

#include <concepts>
#include <initializer_list>
#include <optional>
#include <string>
#include <tuple>

namespace ambit {

namespace pooling {
/// The type of a window size: 3, {3, 2} or another list. The overloads with libtorch's arguments
/// are templates over it, so that {.kernel = {3, 2}} only matches PoolParams.
template <class T>
concept WindowSize = std::convertible_to<T, IntArrayRef>;
/// A window size given as a braced list, {3, 2}.
using SizeList = std::initializer_list<int64_t>;

/// Return the parameters of max_pool1d to 3d; an empty stride is replaced by the kernel size.
inline PoolParams max_params(IntArrayRef kernel, IntArrayRef stride, IntArrayRef padding,
                             IntArrayRef dilation, bool ceil_mode) {
  return {.kernel = kernel,
          .stride = stride.empty() ? kernel : stride,
          .padding = padding,
          .dilation = dilation,
          .ceil_mode = ceil_mode};
}
/// Return the parameters of avg_pool1d to 3d. Errors: Error for a divisor of 0.
inline PoolParams mean_params(const char* op, IntArrayRef kernel, IntArrayRef stride,
                              IntArrayRef padding, bool ceil_mode, bool count_include_pad,
                              std::optional<int64_t> divisor) {
  if (divisor == 0) throw Error(std::string(op) + ": expected a divisor other than 0, got 0");
  return {.kernel = kernel,
          .stride = stride.empty() ? kernel : stride,
          .padding = padding,
          .ceil_mode = ceil_mode,
          .count_include_pad = count_include_pad,
          .divisor = divisor.value_or(0)};
}
}  // namespace pooling

/// Compute the maximum of each window.
///   out[n,c,i] = max over r of input[n, c, i stride + r dilation - padding], likewise in more dims
/// Any dtype but bool. Padding counts as minus infinity; NaN propagates; of several NaN, the last.
/// Errors: also ShapeError for images (of one n and c) of 2^31 elements or more, and for dilated
/// windows that contain only padding. Gradient: goes to the maximum, among equal ones to the
/// first.
///   max_pool2d(x, {.kernel = {3, 3}, .padding = {1, 1}}), max_pool2d(x, 2), max_pool1d(x, 3, 2, 1)
/// @{
AMBIT_API Tensor max_pool1d(const Tensor& input, const PoolParams& params);
AMBIT_API Tensor max_pool2d(const Tensor& input, const PoolParams& params);
AMBIT_API Tensor max_pool3d(const Tensor& input, const PoolParams& params);
/// @}
/// As above, with libtorch's arguments.
/// @{
template <pooling::WindowSize Kernel = pooling::SizeList>
Tensor max_pool1d(const Tensor& input, const Kernel& kernel, IntArrayRef stride = {},
                  IntArrayRef padding = 0, IntArrayRef dilation = 1, bool ceil_mode = false) {
  return max_pool1d(input, pooling::max_params(kernel, stride, padding, dilation, ceil_mode));
}
template <pooling::WindowSize Kernel = pooling::SizeList>
Tensor max_pool2d(const Tensor& input, const Kernel& kernel, IntArrayRef stride = {},
                  IntArrayRef padding = 0, IntArrayRef dilation = 1, bool ceil_mode = false) {
  return max_pool2d(input, pooling::max_params(kernel, stride, padding, dilation, ceil_mode));
}
template <pooling::WindowSize Kernel = pooling::SizeList>
Tensor max_pool3d(const Tensor& input, const Kernel& kernel, IntArrayRef stride = {},
                  IntArrayRef padding = 0, IntArrayRef dilation = 1, bool ceil_mode = false) {
  return max_pool3d(input, pooling::max_params(kernel, stride, padding, dilation, ceil_mode));
}
/// @}
/// As above; return also the position of each maximum in its image (of the first of equal
/// elements), int64: l, h * W + w or (d * H + h) * W + w.
/// @{
AMBIT_API std::tuple<Tensor, Tensor> max_pool1d_with_indices(const Tensor& input,
                                                             const PoolParams& params);
AMBIT_API std::tuple<Tensor, Tensor> max_pool2d_with_indices(const Tensor& input,
                                                             const PoolParams& params);
AMBIT_API std::tuple<Tensor, Tensor> max_pool3d_with_indices(const Tensor& input,
                                                             const PoolParams& params);
/// @}
/// As above, with libtorch's arguments.
/// @{
template <pooling::WindowSize Kernel = pooling::SizeList>
std::tuple<Tensor, Tensor> max_pool1d_with_indices(const Tensor& input, const Kernel& kernel,
                                                   IntArrayRef stride = {}, IntArrayRef padding = 0,
                                                   IntArrayRef dilation = 1,
                                                   bool ceil_mode = false) {
  return max_pool1d_with_indices(input,
                                 pooling::max_params(kernel, stride, padding, dilation, ceil_mode));
}
template <pooling::WindowSize Kernel = pooling::SizeList>
std::tuple<Tensor, Tensor> max_pool2d_with_indices(const Tensor& input, const Kernel& kernel,
                                                   IntArrayRef stride = {}, IntArrayRef padding = 0,
                                                   IntArrayRef dilation = 1,
                                                   bool ceil_mode = false) {
  return max_pool2d_with_indices(input,
                                 pooling::max_params(kernel, stride, padding, dilation, ceil_mode));
}
template <pooling::WindowSize Kernel = pooling::SizeList>
std::tuple<Tensor, Tensor> max_pool3d_with_indices(const Tensor& input, const Kernel& kernel,
                                                   IntArrayRef stride = {}, IntArrayRef padding = 0,
                                                   IntArrayRef dilation = 1,
                                                   bool ceil_mode = false) {
  return max_pool3d_with_indices(input,
                                 pooling::max_params(kernel, stride, padding, dilation, ceil_mode));
}
/// @}

/// Compute the mean of each window.
///   out[n,c,i] = sum over r of input[n, c, i stride + r - padding] / divisor, likewise in more
///   dims
/// Also int64, whose means are truncated. Padding is zero. divisor: the window's elements in the
/// padded input, or with count_include_pad false in the input only; or the given one, not 0.
/// Errors: also ShapeError for a dilation other than 1.
/// @{
AMBIT_API Tensor avg_pool1d(const Tensor& input, const PoolParams& params);
AMBIT_API Tensor avg_pool2d(const Tensor& input, const PoolParams& params);
AMBIT_API Tensor avg_pool3d(const Tensor& input, const PoolParams& params);
/// @}
/// As above, with libtorch's arguments. Errors: also Error for a divisor of 0.
/// @{
template <pooling::WindowSize Kernel = pooling::SizeList>
Tensor avg_pool1d(const Tensor& input, const Kernel& kernel, IntArrayRef stride = {},
                  IntArrayRef padding = 0, bool ceil_mode = false, bool count_include_pad = true) {
  return avg_pool1d(input, pooling::mean_params("avg_pool1d", kernel, stride, padding, ceil_mode,
                                                count_include_pad, std::nullopt));
}
template <pooling::WindowSize Kernel = pooling::SizeList>
Tensor avg_pool2d(const Tensor& input, const Kernel& kernel, IntArrayRef stride = {},
                  IntArrayRef padding = 0, bool ceil_mode = false, bool count_include_pad = true,
                  std::optional<int64_t> divisor_override = {}) {
  return avg_pool2d(input, pooling::mean_params("avg_pool2d", kernel, stride, padding, ceil_mode,
                                                count_include_pad, divisor_override));
}
template <pooling::WindowSize Kernel = pooling::SizeList>
Tensor avg_pool3d(const Tensor& input, const Kernel& kernel, IntArrayRef stride = {},
                  IntArrayRef padding = 0, bool ceil_mode = false, bool count_include_pad = true,
                  std::optional<int64_t> divisor_override = {}) {
  return avg_pool3d(input, pooling::mean_params("avg_pool3d", kernel, stride, padding, ceil_mode,
                                                count_include_pad, divisor_override));
}
/// @}

/// Compute means over windows chosen for the given output sizes (one number for all dims).
///   window i of P: from floor(i H / P) to ceil((i + 1) H / P), excluded
/// output_size >= 0, where 0 gives an empty tensor; -1 keeps the input's size. Source:
/// torch.nn.AdaptiveAvgPool2d.
/// @{
AMBIT_API Tensor adaptive_avg_pool1d(const Tensor& input, IntArrayRef output_size);
AMBIT_API Tensor adaptive_avg_pool2d(const Tensor& input, IntArrayRef output_size);
AMBIT_API Tensor adaptive_avg_pool3d(const Tensor& input, IntArrayRef output_size);
/// @}
/// Compute maxima over the same windows, and their positions as in max_pool2d_with_indices.
/// @{
AMBIT_API std::tuple<Tensor, Tensor> adaptive_max_pool1d(const Tensor& input,
                                                         IntArrayRef output_size);
AMBIT_API std::tuple<Tensor, Tensor> adaptive_max_pool2d(const Tensor& input,
                                                         IntArrayRef output_size);
AMBIT_API std::tuple<Tensor, Tensor> adaptive_max_pool3d(const Tensor& input,
                                                         IntArrayRef output_size);
/// @}

/// Compute maxima over windows of fixed size at positions shifted by `random_samples` u, and their
/// positions as in max_pool2d_with_indices. With a = (H - kernel) / (P - 1)
///   window i of P starts at floor((i + u) a) - floor(u a), the last one at H - kernel
/// random_samples [N,C,dims] in [0, 1), of input's dtype; the first sample is for the last spatial
/// dim in 2-D, for the first in 3-D; N is 1 if the input has none. Errors: also ShapeError unless P
/// + kernel - 1 <= H; DeviceMismatchError. Source: Graham 2014, arXiv:1412.6071.
/// @{
AMBIT_API std::tuple<Tensor, Tensor> fractional_max_pool2d(const Tensor& input, IntArrayRef kernel,
                                                           IntArrayRef output_size,
                                                           const Tensor& random_samples);
AMBIT_API std::tuple<Tensor, Tensor> fractional_max_pool3d(const Tensor& input, IntArrayRef kernel,
                                                           IntArrayRef output_size,
                                                           const Tensor& random_samples);
/// @}

/// Write each element of input to its position in `indices` [like input] of
/// max_pool2d_with_indices, in an image of output_size, zero elsewhere. For duplicate positions one
/// element is kept. Errors: also IndexError for a position outside the image, DTypeError for
/// indices that are not int64, DeviceMismatchError.
AMBIT_API Tensor max_unpool2d(const Tensor& input, const Tensor& indices, IntArrayRef output_size);
/// stride and padding, from libtorch's signature, are ignored.
AMBIT_API Tensor max_unpool3d(const Tensor& input, const Tensor& indices, IntArrayRef output_size,
                              IntArrayRef stride = 1, IntArrayRef padding = 0);

}  // namespace ambit
