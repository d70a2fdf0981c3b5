// nn::functional: sample images at the positions of a grid; convert between images and columns of
// windows.
#pragma once

#include <ambit/nn/functional/interpolate.h>
#include <ambit/nn/functional/padding.h>
#include <ambit/nn/options.h>
#include <ambit/ops/images.h>

#include <optional>

namespace ambit {
/// Values outside of a sampled image: kZeros, or libtorch's kBorder, kReflection.
enum class GridPadding : uint8_t { zeros, border, reflection };
/// libtorch's names of the values; zeros is kZeros.
inline constexpr GridPadding kBorder = GridPadding::border, kReflection = GridPadding::reflection;
}  // namespace ambit

namespace ambit::nn::functional {

/// A GridPadding as an option value; also accepts kZeros, which is a PadMode.
class GridPaddingMode {
 public:
  /// Accept any GridPadding.
  GridPaddingMode(GridPadding padding) : padding_(padding) {}
  /// Accept kZeros. Errors: Error for any other value.
  AMBIT_API GridPaddingMode(PadMode zeros);
  /// Return the value.
  operator GridPadding() const { return padding_; }

 private:
  GridPadding padding_;
};

/// Options of grid_sample.
class GridSampleFuncOptions : public Options<GridSampleFuncOptions> {
 public:
  using mode_t = Interpolation;
  using padding_mode_t = GridPaddingMode;

  /// kBilinear, kNearest or kBicubic.
  AMBIT_OPTION(GridSampleFuncOptions, Interpolation, mode) = kBilinear;
  /// Values outside of the image: kZeros, kBorder or kReflection.
  AMBIT_OPTION(GridSampleFuncOptions, GridPaddingMode, padding_mode) = GridPadding::zeros;
  /// Let -1 and 1 in the grid be the centers of the outermost elements, not their edges. Default:
  /// false.
  AMBIT_OPTION(GridSampleFuncOptions, std::optional<bool>, align_corners);
};

/// Sample images at the positions of a grid: ambit::grid_sampler. Errors: also Error for any other
/// mode.
AMBIT_API Tensor grid_sample(const Tensor& input, const Tensor& grid,
                             const GridSampleFuncOptions& options = {});
/// Return the sampling grid of an affine map: ambit::affine_grid_generator.
inline Tensor affine_grid(const Tensor& theta, IntArrayRef size, bool align_corners = false) {
  return affine_grid_generator(theta, size, align_corners);
}

/// Options of fold; each is one number or (h, w), in elements.
class FoldFuncOptions : public Options<FoldFuncOptions> {
 public:
  FoldFuncOptions(IntOrPair output_size, IntOrPair kernel_size)
      : output_size_(output_size), kernel_size_(kernel_size) {}

  /// Sizes of the image.
  AMBIT_OPTION(FoldFuncOptions, IntOrPair, output_size);
  /// Sizes of the windows.
  AMBIT_OPTION(FoldFuncOptions, IntOrPair, kernel_size);
  /// Step between the elements of a window.
  AMBIT_OPTION(FoldFuncOptions, IntOrPair, dilation) = 1;
  /// Elements on both sides of the image that are dropped.
  AMBIT_OPTION(FoldFuncOptions, IntOrPair, padding) = 0;
  /// Step between windows.
  AMBIT_OPTION(FoldFuncOptions, IntOrPair, stride) = 1;
};
/// Sum columns of windows into an image: ambit::col2im, [N, C R S, windows] -> [N,C,H,W].
inline Tensor fold(const Tensor& input, const FoldFuncOptions& o) {
  return col2im(input, o.output_size(), o.kernel_size(), o.dilation(), o.padding(), o.stride());
}

/// Options of unfold; each is one number or (h, w), in elements.
class UnfoldFuncOptions : public Options<UnfoldFuncOptions> {
 public:
  UnfoldFuncOptions(IntOrPair kernel_size) : kernel_size_(kernel_size) {}

  /// Sizes of the windows.
  AMBIT_OPTION(UnfoldFuncOptions, IntOrPair, kernel_size);
  /// Step between the elements of a window.
  AMBIT_OPTION(UnfoldFuncOptions, IntOrPair, dilation) = 1;
  /// Zeros added on both sides of the image.
  AMBIT_OPTION(UnfoldFuncOptions, IntOrPair, padding) = 0;
  /// Step between windows.
  AMBIT_OPTION(UnfoldFuncOptions, IntOrPair, stride) = 1;
};
/// Copy the windows of images into columns: ambit::im2col, [N,C,H,W] -> [N, C R S, windows].
inline Tensor unfold(const Tensor& input, const UnfoldFuncOptions& o) {
  return im2col(input, o.kernel_size(), o.dilation(), o.padding(), o.stride());
}

}  // namespace ambit::nn::functional
