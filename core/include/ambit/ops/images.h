// Resampling of images, grid sampling, and windows as columns. Images are [N,C,L], [N,C,H,W] or
// [N,C,D,H,W]; N and C may be 0, the other sizes not.
// Errors of all: ShapeError, DTypeError, DeviceMismatchError, Error for an undefined tensor.
// Gradients of all: every tensor that is not an index, to any order.
#pragma once

#include <ambit/params.h>
#include <ambit/tensor.h>

#include <optional>

namespace ambit {

// --- resizing: self -> [N,C] + output_size. Element i of a dim of `out` elements is at this
// position of the input dim of `in` elements:
//   (i + 0.5) / scale - 0.5, or with align_corners at i (in - 1) / (out - 1)
// scale: `scales` if given and above 0, else out / in. Positions outside are clamped to the border.

/// Select the element at floor(i / scale), any dtype. Source: torch.nn.functional.interpolate.
/// @{
AMBIT_API Tensor upsample_nearest1d(const Tensor& self, IntArrayRef output_size,
                                    std::optional<double> scales = {});
AMBIT_API Tensor upsample_nearest2d(const Tensor& self, IntArrayRef output_size,
                                    std::optional<double> scales_h = {},
                                    std::optional<double> scales_w = {});
AMBIT_API Tensor upsample_nearest3d(const Tensor& self, IntArrayRef output_size,
                                    std::optional<double> scales_d = {},
                                    std::optional<double> scales_h = {},
                                    std::optional<double> scales_w = {});
/// @}
/// Select the nearest element, floor((i + 0.5) / scale), any dtype, like Pillow.
/// @{
AMBIT_API Tensor _upsample_nearest_exact1d(const Tensor& self, IntArrayRef output_size,
                                           std::optional<double> scales = {});
AMBIT_API Tensor _upsample_nearest_exact2d(const Tensor& self, IntArrayRef output_size,
                                           std::optional<double> scales_h = {},
                                           std::optional<double> scales_w = {});
AMBIT_API Tensor _upsample_nearest_exact3d(const Tensor& self, IntArrayRef output_size,
                                           std::optional<double> scales_d = {},
                                           std::optional<double> scales_h = {},
                                           std::optional<double> scales_w = {});
/// @}
/// Interpolate linearly between the two elements around the position, per dim. Floating point; in
/// two dims also uint8, with weights of 16 bits, rounded to the nearest integer, like Pillow.
/// @{
AMBIT_API Tensor upsample_linear1d(const Tensor& self, IntArrayRef output_size, bool align_corners,
                                   std::optional<double> scales = {});
AMBIT_API Tensor upsample_bilinear2d(const Tensor& self, IntArrayRef output_size,
                                     bool align_corners, std::optional<double> scales_h = {},
                                     std::optional<double> scales_w = {});
AMBIT_API Tensor upsample_trilinear3d(const Tensor& self, IntArrayRef output_size,
                                      bool align_corners, std::optional<double> scales_d = {},
                                      std::optional<double> scales_h = {},
                                      std::optional<double> scales_w = {});
/// @}
/// Interpolate the four elements around the position along each dim by cubic convolution with a =
/// -0.75. Dtypes as above. Source: Keys 1981, IEEE TASSP 29 (6).
AMBIT_API Tensor upsample_bicubic2d(const Tensor& self, IntArrayRef output_size, bool align_corners,
                                    std::optional<double> scales_h = {},
                                    std::optional<double> scales_w = {});
/// As the functions above, with antialiasing: when downsampling, the filter is widened by the
/// scale, so that all elements contribute, like Pillow (bicubic with a = -0.5). Floating point or
/// uint8.
/// @{
AMBIT_API Tensor _upsample_bilinear2d_aa(const Tensor& self, IntArrayRef output_size,
                                         bool align_corners, std::optional<double> scales_h = {},
                                         std::optional<double> scales_w = {});
AMBIT_API Tensor _upsample_bicubic2d_aa(const Tensor& self, IntArrayRef output_size,
                                        bool align_corners, std::optional<double> scales_h = {},
                                        std::optional<double> scales_w = {});
/// @}

// --- grid sampling

/// Sample images at the positions of a grid: input [N,C,H,W], grid [N,P,Q,2] of (x, y) ->
/// [N,C,P,Q], or [N,C,D,H,W], [N,O,P,Q,3] of (x, y, z) -> [N,C,O,P,Q]. -1 and 1 are the image's
/// edges, or with align_corners the centers of its outermost elements. Both have one floating-point
/// dtype.
///   interpolation_mode 0: bilinear or trilinear; 1: nearest, ties to even; 2: bicubic with
///   a = -0.75, not for three dims
///   padding_mode, outside the image: 0: zeros; 1: the border; 2: the image mirrored at its edges
/// Errors: also Error for any other mode. Gradient: input, grid (zeros for nearest). Source:
/// Jaderberg et al. 2015, arXiv:1506.02025; torch.nn.functional.grid_sample.
AMBIT_API Tensor grid_sampler(const Tensor& input, const Tensor& grid, int64_t interpolation_mode,
                              int64_t padding_mode, bool align_corners);
/// Return the grid of an affine map: theta [N,2,3], size {N,C,H,W} -> [N,H,W,2], or [N,3,4],
/// {N,C,D,H,W} -> [N,D,H,W,3]: theta (x, y, 1) for each position (x, y) of the output, in
/// grid_sampler's coordinates.
AMBIT_API Tensor affine_grid_generator(const Tensor& theta, IntArrayRef size, bool align_corners);

// --- windows as columns; kernel_size R x S, dilation, padding and stride in elements, each one
// number or (h, w):
//   P = floor((H + 2 padding - dilation (R - 1) - 1) / stride) + 1, Q likewise of W

/// Copy the windows of [N,C,H,W], padded with zeros, to columns: [N, C R S, P Q]; or both without
/// N.
///   out[n, (c R + r) S + s, p Q + q] = self[n, c, p stride + r dilation - padding, ...]
AMBIT_API Tensor im2col(const Tensor& self, IntOrPair kernel_size, IntOrPair dilation,
                        IntOrPair padding, IntOrPair stride);
/// Add columns [N, C R S, P Q] to the positions from which im2col copies them: an image [N,C,H,W]
/// of output_size (H, W); or both without N. The adjoint of im2col.
AMBIT_API Tensor col2im(const Tensor& self, IntOrPair output_size, IntOrPair kernel_size,
                        IntOrPair dilation, IntOrPair padding, IntOrPair stride);

}  // namespace ambit
