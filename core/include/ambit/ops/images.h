// Images of other sizes, at other places, and as columns of windows. Images are [N,C,L], [N,C,H,W]
// or [N,C,D,H,W]; N and C may be 0, the others not.
// Errors of all: ShapeError, DTypeError, DeviceMismatchError, Error for an undefined tensor.
// Gradients of all: every tensor that is not an index, any number of times.
#pragma once

#include <ambit/params.h>
#include <ambit/tensor.h>

#include <optional>

namespace ambit {

// --- other sizes: self -> [N,C] and output_size. Element i of a dim of `out` elements lies, in one
// of `in` elements, at
//   (i + 0.5) / scale - 0.5, or with align_corners at i (in - 1) / (out - 1)
// scale: `scales` where it is given and above 0, else out / in. Nothing lies outside: the border
// goes on for ever.

/// Take the element at floor(i / scale), any dtype. Source: torch.nn.functional.interpolate.
AMBIT_API Tensor upsample_nearest1d(const Tensor& self, IntArrayRef output_size,
                                    std::optional<double> scales = {});
AMBIT_API Tensor upsample_nearest2d(const Tensor& self, IntArrayRef output_size,
                                    std::optional<double> scales_h = {},
                                    std::optional<double> scales_w = {});
AMBIT_API Tensor upsample_nearest3d(const Tensor& self, IntArrayRef output_size,
                                    std::optional<double> scales_d = {},
                                    std::optional<double> scales_h = {},
                                    std::optional<double> scales_w = {});
/// Take the element that is nearest, any dtype: floor((i + 0.5) / scale), as Pillow does.
AMBIT_API Tensor _upsample_nearest_exact1d(const Tensor& self, IntArrayRef output_size,
                                           std::optional<double> scales = {});
AMBIT_API Tensor _upsample_nearest_exact2d(const Tensor& self, IntArrayRef output_size,
                                           std::optional<double> scales_h = {},
                                           std::optional<double> scales_w = {});
AMBIT_API Tensor _upsample_nearest_exact3d(const Tensor& self, IntArrayRef output_size,
                                           std::optional<double> scales_d = {},
                                           std::optional<double> scales_h = {},
                                           std::optional<double> scales_w = {});
/// Mix the two elements around the place along each dim, by their distance. Floating point.
AMBIT_API Tensor upsample_linear1d(const Tensor& self, IntArrayRef output_size, bool align_corners,
                                   std::optional<double> scales = {});
AMBIT_API Tensor upsample_bilinear2d(const Tensor& self, IntArrayRef output_size,
                                     bool align_corners, std::optional<double> scales_h = {},
                                     std::optional<double> scales_w = {});
AMBIT_API Tensor upsample_trilinear3d(const Tensor& self, IntArrayRef output_size,
                                      bool align_corners, std::optional<double> scales_d = {},
                                      std::optional<double> scales_h = {},
                                      std::optional<double> scales_w = {});
/// Mix the four elements around the place along each dim, by cubic convolution with a = -0.75.
/// Floating point. Source: Keys 1981, IEEE TASSP 29 (6).
AMBIT_API Tensor upsample_bicubic2d(const Tensor& self, IntArrayRef output_size, bool align_corners,
                                    std::optional<double> scales_h = {},
                                    std::optional<double> scales_w = {});
/// The same, but where an image becomes smaller the filter is as much wider as it does, so that all
/// elements count, as Pillow has it (with a = -0.5).
AMBIT_API Tensor _upsample_bilinear2d_aa(const Tensor& self, IntArrayRef output_size,
                                         bool align_corners, std::optional<double> scales_h = {},
                                         std::optional<double> scales_w = {});
AMBIT_API Tensor _upsample_bicubic2d_aa(const Tensor& self, IntArrayRef output_size,
                                        bool align_corners, std::optional<double> scales_h = {},
                                        std::optional<double> scales_w = {});

// --- other places

/// Sample images at places of a grid: input [N,C,H,W], grid [N,P,Q,2] of (x, y) -> [N,C,P,Q], or
/// [N,C,D,H,W], [N,O,P,Q,3] of (x, y, z) -> [N,C,O,P,Q]. -1 and 1 are the image's edges, or with
/// align_corners the centers of its outermost elements. Both of one floating-point dtype.
///   interpolation_mode 0: bilinear, or trilinear; 1: nearest, halves to even; 2: bicubic, with
///   a = -0.75, not of three dims
///   padding_mode, what is outside: 0: zeros; 1: the border; 2: the image mirrored at its edges
/// Errors also: Error for another mode. Gradient: input, grid; of a grid sampled by nearest zeros.
/// Source: Jaderberg et al. 2015, arXiv:1506.02025; torch.nn.functional.grid_sample.
AMBIT_API Tensor grid_sampler(const Tensor& input, const Tensor& grid, int64_t interpolation_mode,
                              int64_t padding_mode, bool align_corners);
/// Make the grid of an affine map: theta [N,2,3], size {N,C,H,W} -> [N,H,W,2], or [N,3,4],
/// {N,C,D,H,W} -> [N,D,H,W,3]: theta (x, y, 1) of each place (x, y) of the output, as grid_sampler
/// counts them.
AMBIT_API Tensor affine_grid_generator(const Tensor& theta, IntArrayRef size, bool align_corners);

// --- windows as columns; kernel_size R x S, dilation, padding and stride in elements, each one
// number or (h, w):
//   P = floor((H + 2 padding - dilation (R - 1) - 1) / stride) + 1, Q likewise of W

/// Copy the windows of [N,C,H,W], padded with zeros, to columns: [N, C R S, P Q]; or both without
/// N.
///   out[n, (c R + r) S + s, p Q + q] = self[n, c, p stride + r dilation - padding, ...]
AMBIT_API Tensor im2col(const Tensor& self, IntOrPair kernel_size, IntOrPair dilation,
                        IntOrPair padding, IntOrPair stride);
/// Add columns [N, C R S, P Q] up where im2col takes them from: an image [N,C,H,W] of output_size
/// (H, W); or both without N. The gradient of im2col, and the other way round.
AMBIT_API Tensor col2im(const Tensor& self, IntOrPair output_size, IntOrPair kernel_size,
                        IntOrPair dilation, IntOrPair padding, IntOrPair stride);

}  // namespace ambit
