// Upsample: resize images, as a module.
#pragma once

#include <ambit/nn/cloneable.h>
#include <ambit/nn/functional/interpolate.h>
#include <ambit/nn/options.h>

#include <optional>
#include <vector>

namespace ambit::nn {

/// Options of Upsample: those of interpolate(). size or scale_factor; mode: default kNearest.
class UpsampleOptions : public Options<UpsampleOptions> {
 public:
  using mode_t = InterpolationMode;

  AMBIT_OPTION(UpsampleOptions, std::optional<std::vector<int64_t>>, size);
  AMBIT_OPTION(UpsampleOptions, std::optional<std::vector<double>>, scale_factor);
  AMBIT_OPTION(UpsampleOptions, InterpolationMode, mode) = kNearest;
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
