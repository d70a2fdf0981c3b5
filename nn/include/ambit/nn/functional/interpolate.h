// nn::functional: images of other sizes.
#pragma once

#include <ambit/nn/init.h>
#include <ambit/nn/options.h>
#include <ambit/tensor.h>

#include <optional>
#include <vector>

namespace ambit {
/// How the elements of an image are found between those of another; libtorch's kNearest, ...
enum class Interpolation : uint8_t {
  nearest,
  linear,
  bilinear,
  bicubic,
  trilinear,
  area,
  nearest_exact
};
inline constexpr Interpolation kNearest = Interpolation::nearest,
                               kBilinear = Interpolation::bilinear,
                               kBicubic = Interpolation::bicubic,
                               kTrilinear = Interpolation::trilinear, kArea = Interpolation::area,
                               kNearestExact = Interpolation::nearest_exact;
}  // namespace ambit

namespace ambit::nn {

/// An Interpolation as programs write it, also kLinear, which is a nonlinearity's name, too.
class InterpolationMode {
 public:
  InterpolationMode(Interpolation mode) : mode_(mode) {}
  /// Errors: Error for another than kLinear.
  AMBIT_API InterpolationMode(init::Nonlinearity linear);
  operator Interpolation() const { return mode_; }

 private:
  Interpolation mode_;
};

/// Return the name that Python has for it: "nearest", "nearest-exact".
AMBIT_API const char* name_of(Interpolation mode);

namespace functional {

/// Options of interpolate.
class InterpolateFuncOptions : public Options<InterpolateFuncOptions> {
 public:
  using mode_t = InterpolationMode;

  AMBIT_OPTION(InterpolateFuncOptions, std::optional<std::vector<int64_t>>, size);
  AMBIT_OPTION(InterpolateFuncOptions, std::optional<std::vector<double>>, scale_factor);
  AMBIT_OPTION(InterpolateFuncOptions, InterpolationMode, mode) = kNearest;
  AMBIT_OPTION(InterpolateFuncOptions, std::optional<bool>, align_corners);
  AMBIT_OPTION(InterpolateFuncOptions, std::optional<bool>, recompute_scale_factor);
  AMBIT_OPTION(InterpolateFuncOptions, bool, antialias) = false;
};

/// Give images another size: input [N,C,L], [N,C,H,W] or [N,C,D,H,W] -> [N,C] and `size`, or the
/// sizes times scale_factor, rounded down, one number for each dim.
///   nearest, nearest_exact: one element; linear (3 dims), bilinear (4), trilinear (5): the two
///   around along each dim; bicubic (4): the four; area: the mean of those that become one
/// align_corners: the outermost elements' centers stay where they are, else the edges; false unless
/// given; not for nearest and area. recompute_scale_factor: count with the sizes, not with
/// scale_factor. antialias: bilinear and bicubic take all elements in where images become smaller.
/// Errors: Error for options that do not fit each other; ShapeError, DTypeError. Gradient: input.
/// Source: torch.nn.functional.interpolate; see ops/images.h.
AMBIT_API Tensor interpolate(const Tensor& input, const InterpolateFuncOptions& options = {});

}  // namespace functional
}  // namespace ambit::nn
