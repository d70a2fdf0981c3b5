// nn::functional: resize images.
#pragma once

#include <ambit/nn/init.h>
#include <ambit/nn/options.h>
#include <ambit/tensor.h>

#include <optional>
#include <vector>

namespace ambit {
/// Interpolation method, with libtorch's names kNearest, ...
enum class Interpolation : uint8_t {
  nearest,
  linear,
  bilinear,
  bicubic,
  trilinear,
  area,
  nearest_exact
};
/// libtorch's names of the methods; linear is kLinear (nn/init.h).
inline constexpr Interpolation kNearest = Interpolation::nearest,
                               kBilinear = Interpolation::bilinear,
                               kBicubic = Interpolation::bicubic,
                               kTrilinear = Interpolation::trilinear, kArea = Interpolation::area,
                               kNearestExact = Interpolation::nearest_exact;
}  // namespace ambit

namespace ambit::nn {

/// An Interpolation as an option value; also accepts kLinear, which is a Nonlinearity.
class InterpolationMode {
 public:
  /// Accept any Interpolation.
  InterpolationMode(Interpolation mode) : mode_(mode) {}
  /// Accept kLinear. Errors: Error for any other value.
  AMBIT_API InterpolationMode(init::Nonlinearity linear);
  /// Return the method.
  operator Interpolation() const { return mode_; }

 private:
  Interpolation mode_;
};

/// Return PyTorch's Python name: "nearest", "nearest-exact".
AMBIT_API const char* name_of(Interpolation mode);

namespace functional {

/// Options of interpolate; exactly one of size and scale_factor is given.
class InterpolateFuncOptions : public Options<InterpolateFuncOptions> {
 public:
  using mode_t = InterpolationMode;

  /// Spatial sizes of the output, one number per spatial dim. Default: none.
  AMBIT_OPTION(InterpolateFuncOptions, std::optional<std::vector<int64_t>>, size);
  /// Factor of each spatial size, one number per spatial dim; sizes are rounded down. Default:
  /// none.
  AMBIT_OPTION(InterpolateFuncOptions, std::optional<std::vector<double>>, scale_factor);
  /// The method; interpolate() describes them.
  AMBIT_OPTION(InterpolateFuncOptions, InterpolationMode, mode) = kNearest;
  /// Align the centers of the outermost elements, not their edges; not for kNearest, kNearestExact
  /// and kArea. Default: false.
  AMBIT_OPTION(InterpolateFuncOptions, std::optional<bool>, align_corners);
  /// Compute positions from the sizes, not from scale_factor. Default: false.
  AMBIT_OPTION(InterpolateFuncOptions, std::optional<bool>, recompute_scale_factor);
  /// Average over all covered elements when kBilinear and kBicubic shrink.
  AMBIT_OPTION(InterpolateFuncOptions, bool, antialias) = false;
};

/// Resize images: input [N,C,L], [N,C,H,W] or [N,C,D,H,W] -> spatial sizes `size`, or the input's
/// times scale_factor, rounded down; one number per spatial dim.
///   nearest, nearest_exact: copy one element; linear (3 dims), bilinear (4), trilinear (5): use
///   the two nearest elements along each dim; bicubic (4): the four nearest; area: adaptive average
///   pooling
/// align_corners: align the centers of the outermost elements, else the edges; default false; not
/// for nearest and area. recompute_scale_factor: compute positions from the sizes, not from
/// scale_factor. antialias: average over all covered elements when bilinear and bicubic shrink.
/// Errors: Error for incompatible options; ShapeError, DTypeError. Gradient: input. Source:
/// torch.nn.functional.interpolate; see ops/images.h.
AMBIT_API Tensor interpolate(const Tensor& input, const InterpolateFuncOptions& options = {});

}  // namespace functional
}  // namespace ambit::nn
