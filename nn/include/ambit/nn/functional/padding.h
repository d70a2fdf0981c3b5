// nn::functional: padding and rearranging of elements. Any dtype, which stays. Gradient: input.
#pragma once

#include <ambit/nn/options.h>
#include <ambit/tensor.h>

#include <vector>

namespace ambit {
/// What padding is made of; libtorch's kConstant, kReflect, kReplicate, kCircular; kZeros of
/// layers.
enum class PadMode : uint8_t { constant, reflect, replicate, circular };
inline constexpr PadMode kConstant = PadMode::constant, kReflect = PadMode::reflect,
                         kReplicate = PadMode::replicate, kCircular = PadMode::circular,
                         kZeros = PadMode::constant;
}  // namespace ambit

namespace ambit::nn::functional {

/// Pad the last dims: pad is {before, after} of the last, then of the one before it, ...
///   constant: `value`; reflect: the elements inside, the border itself not repeated; replicate:
///   the border; circular: the elements from the other end
/// Negative numbers, with constant only, take elements off. Errors: Error for an odd number of
/// numbers; ShapeError for more than the dims there are, and for padding larger than the mode can
/// make; Error for an undefined input.
AMBIT_API Tensor pad(const Tensor& input, IntArrayRef pad, PadMode mode, const Scalar& value = 0);
/// Options of pad.
class PadFuncOptions : public Options<PadFuncOptions> {
 public:
  PadFuncOptions(std::vector<int64_t> pad) : pad_(std::move(pad)) {}

  AMBIT_OPTION(PadFuncOptions, std::vector<int64_t>, pad);
  AMBIT_OPTION(PadFuncOptions, PadMode, mode) = PadMode::constant;
  AMBIT_OPTION(PadFuncOptions, double, value) = 0;
};
inline Tensor pad(const Tensor& input, const PadFuncOptions& options) {
  return pad(input, options.pad(), options.mode(), options.value());
}

/// [..., C r^2, H, W] -> [..., C, H r, W r]: out[c, h r + i, w r + j] = in[c r^2 + i r + j, h, w].
/// Errors: ShapeError; Error for r < 1. Source: Shi et al. 2016, arXiv:1609.05158.
AMBIT_API Tensor pixel_shuffle(const Tensor& input, int64_t upscale_factor);
/// The inverse: [..., C, H r, W r] -> [..., C r^2, H, W].
AMBIT_API Tensor pixel_unshuffle(const Tensor& input, int64_t downscale_factor);

}  // namespace ambit::nn::functional
