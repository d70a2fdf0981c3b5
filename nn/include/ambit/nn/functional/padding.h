// nn::functional: padding and rearranging of elements. Any dtype, which is kept. Gradient: input.
#pragma once

#include <ambit/nn/options.h>
#include <ambit/tensor.h>

#include <vector>

namespace ambit {
/// Values of padding; pad() describes them.
enum class PadMode : uint8_t { constant, reflect, replicate, circular };
/// libtorch's names of the modes; kZeros is that of layers for a constant 0.
inline constexpr PadMode kConstant = PadMode::constant, kReflect = PadMode::reflect,
                         kReplicate = PadMode::replicate, kCircular = PadMode::circular,
                         kZeros = PadMode::constant;
}  // namespace ambit

namespace ambit::nn::functional {

/// Pad the last dims: pad is {before, after} of the last dim, then of the one before it, ...
///   constant: `value`; reflect: mirrored elements without repeating the border; replicate: the
///   border element; circular: elements from the opposite end
/// Negative padding crops; circular pads with elements of the cropped tensor, the other modes with
/// those of the whole one. Errors: Error for an odd number of values; ShapeError for more values
/// than dims, and for padding or cropping by more than the mode allows; Error for an undefined
/// input.
AMBIT_API Tensor pad(const Tensor& input, IntArrayRef pad, PadMode mode, const Scalar& value = 0);
/// Options of pad.
class PadFuncOptions : public Options<PadFuncOptions> {
 public:
  PadFuncOptions(std::vector<int64_t> pad) : pad_(std::move(pad)) {}

  /// Elements added {before, after} the last dim, then the dim before it, and so on; negative
  /// numbers crop.
  AMBIT_OPTION(PadFuncOptions, std::vector<int64_t>, pad);
  /// Values of the padding: kConstant, kReflect, kReplicate or kCircular.
  AMBIT_OPTION(PadFuncOptions, PadMode, mode) = PadMode::constant;
  /// Value of the padding with kConstant.
  AMBIT_OPTION(PadFuncOptions, double, value) = 0;
};
inline Tensor pad(const Tensor& input, const PadFuncOptions& options) {
  return pad(input, options.pad(), options.mode(), options.value());
}

/// [..., C r^2, H, W] -> [..., C, H r, W r]: out[c, h r + i, w r + j] = in[c r^2 + i r + j, h, w].
/// Errors: ShapeError; Error for r < 1. Source: Shi et al. 2016, arXiv:1609.05158.
AMBIT_API Tensor pixel_shuffle(const Tensor& input, int64_t upscale_factor);
/// Inverse of pixel_shuffle: [..., C, H r, W r] -> [..., C r^2, H, W].
AMBIT_API Tensor pixel_unshuffle(const Tensor& input, int64_t downscale_factor);

}  // namespace ambit::nn::functional
