// Upsample: resize images, as a module.
#pragma once

#include <ambit/nn/cloneable.h>
#include <ambit/nn/functional/interpolate.h>
#include <ambit/nn/options.h>

#include <optional>
#include <vector>

namespace ambit::nn {

/// Options of Upsample; interpolate() describes the modes.
class UpsampleOptions : public Options<UpsampleOptions> {
 public:
  using mode_t = InterpolationMode;

  /// Spatial sizes of the output. Default: given by scale_factor.
  AMBIT_OPTION(UpsampleOptions, std::optional<std::vector<int64_t>>, size);
  /// Factor of each spatial size; the result is rounded down. Default: given by size.
  AMBIT_OPTION(UpsampleOptions, std::optional<std::vector<double>>, scale_factor);
  /// kNearest, kNearestExact, kLinear, kBilinear, kBicubic, kTrilinear or kArea.
  AMBIT_OPTION(UpsampleOptions, InterpolationMode, mode) = kNearest;
  /// Align the centers of the outermost elements, not their edges; not for kNearest and
  /// kArea. Default: false.
  AMBIT_OPTION(UpsampleOptions, std::optional<bool>, align_corners);
};

/// Resize images to a size or by a factor: functional::interpolate, also for errors of forward().
/// No parameters.
class AMBIT_API UpsampleImpl : public Cloneable<UpsampleImpl> {
 public:
  explicit UpsampleImpl(const UpsampleOptions& opts = {});
  void reset() override;
  Tensor forward(const Tensor& input);
  void pretty_print(std::ostream& os) const override;

  UpsampleOptions options;
};
AMBIT_MODULE(Upsample);

}  // namespace ambit::nn
