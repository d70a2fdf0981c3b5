// nn::functional: convolutions with libtorch's option classes.
#pragma once

#include <ambit/nn/expanding_array.h>
#include <ambit/nn/options.h>
#include <ambit/ops/conv.h>

#include <initializer_list>
#include <utility>
#include <variant>

namespace ambit {
/// The type of kValid.
struct ValidPadding {};
/// The type of kSame.
struct SamePadding {};
/// Named padding of convolutions: none.
inline constexpr ValidPadding kValid;
/// Named padding of convolutions: the output has the spatial sizes of the input; only with
/// stride 1.
inline constexpr SamePadding kSame;
}  // namespace ambit

namespace ambit::nn::detail {

/// Padding of a convolution: sizes, kValid or kSame.
template <size_t D>
using conv_padding_t = std::variant<ExpandingArray<D>, ValidPadding, SamePadding>;

/// Return "valid" or "same" for a named padding, else null.
template <size_t D>
const char* padding_name(const conv_padding_t<D>& padding) {
  constexpr const char* kNames[] = {nullptr, "valid", "same"};
  return kNames[padding.index()];
}

}  // namespace ambit::nn::detail

namespace ambit::nn::functional {

using ambit::conv1d;
using ambit::conv2d;
using ambit::conv3d;
using ambit::conv_transpose1d;
using ambit::conv_transpose2d;
using ambit::conv_transpose3d;

/// Options of conv1d to conv3d; sizes are in elements: one number for all spatial dims, or D
/// numbers.
template <size_t D>
class ConvFuncOptions : public Options<ConvFuncOptions<D>> {
 public:
  using padding_t = nn::detail::conv_padding_t<D>;
  /// Elements added on both sides of each spatial dim; kSame: so many that the output has the
  /// spatial sizes of the input; kValid: none. Default: 0.
  ConvFuncOptions& padding(std::initializer_list<int64_t> n) {
    return padding(padding_t(ExpandingArray<D>(n)));
  }

  /// Added to each output channel. Default: undefined (none).
  AMBIT_OPTION(ConvFuncOptions, Tensor, bias);
  /// Step between windows.
  AMBIT_OPTION(ConvFuncOptions, ExpandingArray<D>, stride) = 1;
  AMBIT_OPTION(ConvFuncOptions, padding_t, padding) = 0;
  /// Step between the elements of a window.
  AMBIT_OPTION(ConvFuncOptions, ExpandingArray<D>, dilation) = 1;
  /// Number of groups of channels that are convolved separately.
  AMBIT_OPTION(ConvFuncOptions, int64_t, groups) = 1;
};
using Conv1dFuncOptions = ConvFuncOptions<1>;
using Conv2dFuncOptions = ConvFuncOptions<2>;
using Conv3dFuncOptions = ConvFuncOptions<3>;

/// Options of conv_transpose1d to conv_transpose3d; sizes are in elements: one number for all
/// spatial dims, or D numbers.
template <size_t D>
class ConvTransposeFuncOptions : public Options<ConvTransposeFuncOptions<D>> {
  /// Added to each output channel. Default: undefined (none).
  AMBIT_OPTION(ConvTransposeFuncOptions, Tensor, bias);
  /// Step between windows in the output.
  AMBIT_OPTION(ConvTransposeFuncOptions, ExpandingArray<D>, stride) = 1;
  /// Elements removed on both sides of the output.
  AMBIT_OPTION(ConvTransposeFuncOptions, ExpandingArray<D>, padding) = 0;
  /// Elements added to one side of the output.
  AMBIT_OPTION(ConvTransposeFuncOptions, ExpandingArray<D>, output_padding) = 0;
  /// Number of groups of channels that are convolved separately.
  AMBIT_OPTION(ConvTransposeFuncOptions, int64_t, groups) = 1;
  /// Step between the elements of a window.
  AMBIT_OPTION(ConvTransposeFuncOptions, ExpandingArray<D>, dilation) = 1;
};
using ConvTranspose1dFuncOptions = ConvTransposeFuncOptions<1>;
using ConvTranspose2dFuncOptions = ConvTransposeFuncOptions<2>;
using ConvTranspose3dFuncOptions = ConvTransposeFuncOptions<3>;

/// ambit::conv1d.
inline Tensor conv1d(const Tensor& input, const Tensor& weight, const Conv1dFuncOptions& o) {
  if (const char* name = nn::detail::padding_name<1>(o.padding())) {
    return conv1d(input, weight, o.bias(), o.stride(), name, o.dilation(), o.groups());
  }
  return conv1d(input, weight, o.bias(), o.stride(), std::get<0>(o.padding()), o.dilation(),
                o.groups());
}
/// ambit::conv2d.
inline Tensor conv2d(const Tensor& input, const Tensor& weight, const Conv2dFuncOptions& o) {
  if (const char* name = nn::detail::padding_name<2>(o.padding())) {
    return conv2d(input, weight, o.bias(), o.stride(), name, o.dilation(), o.groups());
  }
  return conv2d(input, weight, o.bias(), o.stride(), std::get<0>(o.padding()), o.dilation(),
                o.groups());
}
/// ambit::conv3d.
inline Tensor conv3d(const Tensor& input, const Tensor& weight, const Conv3dFuncOptions& o) {
  if (const char* name = nn::detail::padding_name<3>(o.padding())) {
    return conv3d(input, weight, o.bias(), o.stride(), name, o.dilation(), o.groups());
  }
  return conv3d(input, weight, o.bias(), o.stride(), std::get<0>(o.padding()), o.dilation(),
                o.groups());
}
/// ambit::conv_transpose1d.
inline Tensor conv_transpose1d(const Tensor& input, const Tensor& weight,
                               const ConvTranspose1dFuncOptions& o) {
  return conv_transpose1d(input, weight, o.bias(), o.stride(), o.padding(), o.output_padding(),
                          o.groups(), o.dilation());
}
/// ambit::conv_transpose2d.
inline Tensor conv_transpose2d(const Tensor& input, const Tensor& weight,
                               const ConvTranspose2dFuncOptions& o) {
  return conv_transpose2d(input, weight, o.bias(), o.stride(), o.padding(), o.output_padding(),
                          o.groups(), o.dilation());
}
/// ambit::conv_transpose3d.
inline Tensor conv_transpose3d(const Tensor& input, const Tensor& weight,
                               const ConvTranspose3dFuncOptions& o) {
  return conv_transpose3d(input, weight, o.bias(), o.stride(), o.padding(), o.output_padding(),
                          o.groups(), o.dilation());
}

}  // namespace ambit::nn::functional
