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
inline constexpr GridPadding kBorder = GridPadding::border, kReflection = GridPadding::reflection;
}  // namespace ambit

namespace ambit::nn::functional {

/// A GridPadding as an option value; also accepts kZeros, which is a PadMode.
class GridPaddingMode {
 public:
  GridPaddingMode(GridPadding padding) : padding_(padding) {}
  /// Errors: Error for a value other than kZeros.
  AMBIT_API GridPaddingMode(PadMode zeros);
  operator GridPadding() const { return padding_; }

 private:
  GridPadding padding_;
};

/// Options of grid_sample. mode: kBilinear (default), kNearest or kBicubic; padding_mode: default
/// kZeros; align_corners: default false.
class GridSampleFuncOptions : public Options<GridSampleFuncOptions> {
 public:
  using mode_t = Interpolation;
  using padding_mode_t = GridPaddingMode;

  AMBIT_OPTION(GridSampleFuncOptions, Interpolation, mode) = kBilinear;
  AMBIT_OPTION(GridSampleFuncOptions, GridPaddingMode, padding_mode) = GridPadding::zeros;
  AMBIT_OPTION(GridSampleFuncOptions, std::optional<bool>, align_corners);
};

/// Sample images at the positions of a grid: ambit::grid_sampler. Errors also: Error for another
/// mode.
AMBIT_API Tensor grid_sample(const Tensor& input, const Tensor& grid,
                             const GridSampleFuncOptions& options = {});
/// Return the sampling grid of an affine map: ambit::affine_grid_generator.
inline Tensor affine_grid(const Tensor& theta, IntArrayRef size, bool align_corners = false) {
  return affine_grid_generator(theta, size, align_corners);
}

/// Options of fold. output_size: of the image; kernel_size: of the windows; each one number or (h,
/// w).
class FoldFuncOptions : public Options<FoldFuncOptions> {
 public:
  FoldFuncOptions(IntOrPair output_size, IntOrPair kernel_size)
      : output_size_(output_size), kernel_size_(kernel_size) {}

  AMBIT_OPTION(FoldFuncOptions, IntOrPair, output_size);
  AMBIT_OPTION(FoldFuncOptions, IntOrPair, kernel_size);
  AMBIT_OPTION(FoldFuncOptions, IntOrPair, dilation) = 1;
  AMBIT_OPTION(FoldFuncOptions, IntOrPair, padding) = 0;
  AMBIT_OPTION(FoldFuncOptions, IntOrPair, stride) = 1;
};
/// Sum columns of windows into an image: ambit::col2im, [N, C R S, windows] -> [N,C,H,W].
inline Tensor fold(const Tensor& input, const FoldFuncOptions& o) {
  return col2im(input, o.output_size(), o.kernel_size(), o.dilation(), o.padding(), o.stride());
}

/// Options of unfold. kernel_size: of the windows; all options are one number or (h, w).
class UnfoldFuncOptions : public Options<UnfoldFuncOptions> {
 public:
  UnfoldFuncOptions(IntOrPair kernel_size) : kernel_size_(kernel_size) {}

  AMBIT_OPTION(UnfoldFuncOptions, IntOrPair, kernel_size);
  AMBIT_OPTION(UnfoldFuncOptions, IntOrPair, dilation) = 1;
  AMBIT_OPTION(UnfoldFuncOptions, IntOrPair, padding) = 0;
  AMBIT_OPTION(UnfoldFuncOptions, IntOrPair, stride) = 1;
};
/// Copy the windows of images into columns: ambit::im2col, [N,C,H,W] -> [N, C R S, windows].
inline Tensor unfold(const Tensor& input, const UnfoldFuncOptions& o) {
  return im2col(input, o.kernel_size(), o.dilation(), o.padding(), o.stride());
}

}  // namespace ambit::nn::functional
