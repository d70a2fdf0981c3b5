// ConvTranspose1d, ConvTranspose2d, ConvTranspose3d and their options.
#pragma once

#include <ambit/nn/any_module.h>
#include <ambit/nn/conv.h>

#include <optional>

namespace ambit::nn {

/// Options of a transposed convolution in D spatial dims; sizes are in elements, one number or
/// D.
template <size_t D>
class ConvTransposeOptions : public Options<ConvTransposeOptions<D>> {
 public:
  ConvTransposeOptions(int64_t in_channels, int64_t out_channels, ExpandingArray<D> kernel_size)
      : in_channels_(in_channels), out_channels_(out_channels), kernel_size_(kernel_size) {}

  /// Size of the input's channel dim; a multiple of groups.
  AMBIT_OPTION(ConvTransposeOptions, int64_t, in_channels);
  /// Size of the output's channel dim; a multiple of groups.
  AMBIT_OPTION(ConvTransposeOptions, int64_t, out_channels);
  /// Sizes of the window.
  AMBIT_OPTION(ConvTransposeOptions, ExpandingArray<D>, kernel_size);
  /// Step between windows in the output.
  AMBIT_OPTION(ConvTransposeOptions, ExpandingArray<D>, stride) = 1;
  /// Elements removed on both sides of the output.
  AMBIT_OPTION(ConvTransposeOptions, ExpandingArray<D>, padding) = 0;
  /// Elements added to one side of the output.
  AMBIT_OPTION(ConvTransposeOptions, ExpandingArray<D>, output_padding) = 0;
  /// Number of groups of channels that are convolved separately.
  AMBIT_OPTION(ConvTransposeOptions, int64_t, groups) = 1;
  /// Add a learned bias per output channel.
  AMBIT_OPTION(ConvTransposeOptions, bool, bias) = true;
  /// Step between the elements of a window.
  AMBIT_OPTION(ConvTransposeOptions, ExpandingArray<D>, dilation) = 1;
  /// Only kZeros is supported.
  AMBIT_OPTION(ConvTransposeOptions, PadMode, padding_mode) = kZeros;
};
using ConvTranspose1dOptions = ConvTransposeOptions<1>;
using ConvTranspose2dOptions = ConvTransposeOptions<2>;
using ConvTranspose3dOptions = ConvTransposeOptions<3>;

/// Base of the transposed convolutions.
template <size_t D, class Derived>
class AMBIT_API ConvTransposeNdImpl : public ConvNdImpl<D, Derived> {
 public:
  /// Make the module with these options. Errors: as ConvNdImpl.
  explicit ConvTransposeNdImpl(const detail::ConvNdOptions<D>& opts)
      : ConvNdImpl<D, Derived>(opts) {}
  /// output_size, if given, determines output_padding: the last D sizes of the output, or all its
  /// sizes. Errors: also ShapeError if no output_padding gives that size.
  Tensor forward(const Tensor& input, const std::optional<IntArrayRef>& output_size = {});

 private:
  friend AnyModule;
  static AnyModule::Defaults forward_defaults() {
    return {{1, AnyValue(std::optional<IntArrayRef>())}};
  }
};

/// Transposed convolution: x [N, in_channels, L] -> y [N, out_channels, P], or both without N; see
/// conv_transpose1d(). weight [in_channels, out_channels / groups, kernel_size] and bias
/// [out_channels] are initialised uniformly in +-1/sqrt(fan_in), fan_in = out_channels / groups *
/// kernel size. Errors: as Conv2d.
class AMBIT_API ConvTranspose1dImpl : public ConvTransposeNdImpl<1, ConvTranspose1dImpl> {
 public:
  ConvTranspose1dImpl(int64_t in_channels, int64_t out_channels, ExpandingArray<1> kernel_size);
  explicit ConvTranspose1dImpl(const ConvTranspose1dOptions& opts);
};
AMBIT_MODULE(ConvTranspose1d);

/// Transposed convolution: x [N, in_channels, H, W] -> y [N, out_channels, P, Q], or both without
/// N; see conv_transpose2d(). weight [in_channels, out_channels / groups, h, w]; bias and
/// initialisation as ConvTranspose1d. Errors: as Conv2d.
class AMBIT_API ConvTranspose2dImpl : public ConvTransposeNdImpl<2, ConvTranspose2dImpl> {
 public:
  ConvTranspose2dImpl(int64_t in_channels, int64_t out_channels, ExpandingArray<2> kernel_size);
  explicit ConvTranspose2dImpl(const ConvTranspose2dOptions& opts);
};
AMBIT_MODULE(ConvTranspose2d);

/// Transposed convolution: x [N, in_channels, D, H, W] -> y [N, out_channels, O, P, Q], or both
/// without N; see conv_transpose3d(). weight [in_channels, out_channels / groups, d, h, w]; bias
/// and initialisation as ConvTranspose1d. Errors: as Conv2d.
class AMBIT_API ConvTranspose3dImpl : public ConvTransposeNdImpl<3, ConvTranspose3dImpl> {
 public:
  ConvTranspose3dImpl(int64_t in_channels, int64_t out_channels, ExpandingArray<3> kernel_size);
  explicit ConvTranspose3dImpl(const ConvTranspose3dOptions& opts);
};
AMBIT_MODULE(ConvTranspose3d);

}  // namespace ambit::nn
