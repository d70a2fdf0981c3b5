// grid_sample: maps libtorch's options to the op's numbers.
#include <ambit/error.h>
#include <ambit/nn/functional/vision.h>
#include <fmt/format.h>

namespace ambit::nn::functional {

GridPaddingMode::GridPaddingMode(PadMode zeros) : padding_(GridPadding::zeros) {
  if (zeros != kZeros) {
    throw Error(
        "grid_sample: expected the padding_mode kZeros, kBorder or kReflection, got another");
  }
}

Tensor grid_sample(const Tensor& input, const Tensor& grid, const GridSampleFuncOptions& options) {
  int64_t mode = 0;
  switch (options.mode()) {
    case Interpolation::bilinear:
      break;
    case Interpolation::nearest:
      mode = 1;
      break;
    case Interpolation::bicubic:
      mode = 2;
      break;
    default:
      throw Error(
          fmt::format("grid_sample: expected the mode kBilinear, kNearest or kBicubic, got {}",
                      name_of(options.mode())));
  }
  const GridPadding padding = options.padding_mode();
  return grid_sampler(input, grid, mode, static_cast<int64_t>(padding),
                      options.align_corners().value_or(false));
}

}  // namespace ambit::nn::functional
