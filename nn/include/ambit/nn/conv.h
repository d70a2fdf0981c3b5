// Conv1d, Conv2d, Conv3d, their options, and the base that they share with ConvTranspose1d-3d.
#pragma once

#include <ambit/nn/cloneable.h>
#include <ambit/nn/functional/conv.h>
#include <ambit/nn/functional/padding.h>
#include <ambit/nn/options.h>

#include <initializer_list>
#include <optional>
#include <variant>

namespace ambit::nn {

/// Options of a convolution in D spatial dims; sizes are in elements, one number or D.
template <size_t D>
class ConvOptions : public Options<ConvOptions<D>> {
 public:
  using padding_t = detail::conv_padding_t<D>;
  ConvOptions(int64_t in_channels, int64_t out_channels, ExpandingArray<D> kernel_size)
      : in_channels_(in_channels), out_channels_(out_channels), kernel_size_(kernel_size) {}
  /// Elements added on both sides; kSame: as many as keep the spatial sizes; kValid: none.
  /// Default: 0.
  ConvOptions& padding(std::initializer_list<int64_t> n) {
    return padding(padding_t(ExpandingArray<D>(n)));
  }

  /// Size of the input's channel dim; a multiple of groups.
  AMBIT_OPTION(ConvOptions, int64_t, in_channels);
  /// Size of the output's channel dim; a multiple of groups.
  AMBIT_OPTION(ConvOptions, int64_t, out_channels);
  /// Sizes of the window.
  AMBIT_OPTION(ConvOptions, ExpandingArray<D>, kernel_size);
  /// Step between windows.
  AMBIT_OPTION(ConvOptions, ExpandingArray<D>, stride) = 1;
  AMBIT_OPTION(ConvOptions, padding_t, padding) = 0;
  /// Step between the elements of a window.
  AMBIT_OPTION(ConvOptions, ExpandingArray<D>, dilation) = 1;
  /// Number of groups of channels that are convolved separately.
  AMBIT_OPTION(ConvOptions, int64_t, groups) = 1;
  /// Add a learned bias per output channel.
  AMBIT_OPTION(ConvOptions, bool, bias) = true;
  /// Values of the padding: kZeros, kReflect, kReplicate or kCircular.
  AMBIT_OPTION(ConvOptions, PadMode, padding_mode) = kZeros;
};
using Conv1dOptions = ConvOptions<1>;
using Conv2dOptions = ConvOptions<2>;
using Conv3dOptions = ConvOptions<3>;

namespace detail {

/// The options that a module keeps: those of ConvOptions, or of ConvTransposeOptions if
/// transposed.
template <size_t D>
class ConvNdOptions : public Options<ConvNdOptions<D>> {
 public:
  using padding_t = conv_padding_t<D>;
  ConvNdOptions(int64_t in_channels, int64_t out_channels, ExpandingArray<D> kernel_size)
      : in_channels_(in_channels), out_channels_(out_channels), kernel_size_(kernel_size) {}
  /// Convert from ConvOptions or ConvTransposeOptions.
  template <class O>
  requires requires(const O& o) { o.padding_mode(); }
  ConvNdOptions(const O& o)
      : in_channels_(o.in_channels()),
        out_channels_(o.out_channels()),
        kernel_size_(o.kernel_size()),
        stride_(o.stride()),
        padding_(o.padding()),
        dilation_(o.dilation()),
        groups_(o.groups()),
        bias_(o.bias()),
        padding_mode_(o.padding_mode()) {
    if constexpr (requires { o.output_padding(); }) {
      transposed_ = true;
      output_padding_ = o.output_padding();
    }
  }
  ConvNdOptions(const ConvNdOptions&) = default;
  ConvNdOptions& operator=(const ConvNdOptions&) = default;
  /// As in ConvOptions; a transposed convolution has no kSame or kValid. Default: 0.
  ConvNdOptions& padding(std::initializer_list<int64_t> n) {
    return padding(padding_t(ExpandingArray<D>(n)));
  }

  /// As in ConvOptions.
  AMBIT_OPTION(ConvNdOptions, int64_t, in_channels);
  /// As in ConvOptions.
  AMBIT_OPTION(ConvNdOptions, int64_t, out_channels);
  /// As in ConvOptions.
  AMBIT_OPTION(ConvNdOptions, ExpandingArray<D>, kernel_size);
  /// As in ConvOptions.
  AMBIT_OPTION(ConvNdOptions, ExpandingArray<D>, stride) = 1;
  AMBIT_OPTION(ConvNdOptions, padding_t, padding) = 0;
  /// As in ConvOptions.
  AMBIT_OPTION(ConvNdOptions, ExpandingArray<D>, dilation) = 1;
  /// Set by the conversion from ConvTransposeOptions.
  AMBIT_OPTION(ConvNdOptions, bool, transposed) = false;
  /// As in ConvTransposeOptions.
  AMBIT_OPTION(ConvNdOptions, ExpandingArray<D>, output_padding) = 0;
  /// As in ConvOptions.
  AMBIT_OPTION(ConvNdOptions, int64_t, groups) = 1;
  /// As in ConvOptions.
  AMBIT_OPTION(ConvNdOptions, bool, bias) = true;
  /// As in ConvOptions; kZeros if transposed.
  AMBIT_OPTION(ConvNdOptions, PadMode, padding_mode) = kZeros;
};

}  // namespace detail

/// Base of the plain and transposed convolutions in D spatial dims: parameters, their
/// initialisation, checks and printing.
template <size_t D, class Derived>
class AMBIT_API ConvNdImpl : public Cloneable<Derived> {
 public:
  /// Errors: Error for sizes below 1 (paddings: below 0), groups that do not divide both channel
  /// counts, kSame with a stride other than 1, and options that a transposed convolution does not
  /// support.
  explicit ConvNdImpl(const detail::ConvNdOptions<D>& opts);
  void reset() override;
  /// Reinitialise weight and bias with random values.
  void reset_parameters();
  void pretty_print(std::ostream& os) const override;

  detail::ConvNdOptions<D> options;
  /// [out, in / groups, kernel...] ([in, out / groups, kernel...] if transposed) and [out];
  /// the bias is undefined without that option.
  Tensor weight, bias;

 protected:
  /// Compute the convolution of `input`, followed by `activation` if given.
  Tensor convolve(const Tensor& input, std::optional<UnaryOp> activation = {}) const;
  /// As convolve(), for a transposed convolution.
  Tensor convolve_transposed(const Tensor& input, const PerAxis& output_padding) const;
};

/// Convolve x [N, in_channels, L] -> y [N, out_channels, P], or both without N; see conv1d() and
/// Conv2d.
class AMBIT_API Conv1dImpl : public ConvNdImpl<1, Conv1dImpl> {
 public:
  Conv1dImpl(int64_t in_channels, int64_t out_channels, ExpandingArray<1> kernel_size);
  explicit Conv1dImpl(const Conv1dOptions& opts);
  Tensor forward(const Tensor& input) { return convolve(input); }
  /// Like forward(), followed by an activation, fused as in convolution_map(): UnaryOp::relu, gelu
  /// or gelu_tanh.
  Tensor forward_map(const Tensor& input, UnaryOp activation) {
    return convolve(input, activation);
  }
};
AMBIT_MODULE(Conv1d);

/// Convolve x [N, in_channels, H, W] -> y [N, out_channels, P, Q], or both without N; see conv2d().
///   P = floor((H + 2 padding - dilation (kernel_size - 1) - 1) / stride) + 1, Q likewise from W
/// weight [out_channels, in_channels / groups, h, w] and bias [out_channels] are initialised
/// uniformly in +-1/sqrt(fan_in), fan_in = in_channels / groups * h * w.
/// Errors: Error for sizes below 1 (padding: below 0), groups that do not divide both channel
/// counts, or kSame with a stride other than 1; of forward those of conv2d() and, if padding_mode
/// is not kZeros, of pad(). Source of the initialisation: He et al. 2015, as torch.nn.Conv2d.
class AMBIT_API Conv2dImpl : public ConvNdImpl<2, Conv2dImpl> {
 public:
  Conv2dImpl(int64_t in_channels, int64_t out_channels, ExpandingArray<2> kernel_size,
             ExpandingArray<2> stride = 1, ExpandingArray<2> padding = 0);
  explicit Conv2dImpl(const Conv2dOptions& opts);
  Tensor forward(const Tensor& input) { return convolve(input); }
  /// Like forward(), followed by an activation; see Conv1d.
  Tensor forward_map(const Tensor& input, UnaryOp activation) {
    return convolve(input, activation);
  }
};
AMBIT_MODULE(Conv2d);

/// Convolve x [N, in_channels, D, H, W] -> y [N, out_channels, O, P, Q], or both without N; see
/// conv3d() and Conv2d.
class AMBIT_API Conv3dImpl : public ConvNdImpl<3, Conv3dImpl> {
 public:
  Conv3dImpl(int64_t in_channels, int64_t out_channels, ExpandingArray<3> kernel_size);
  explicit Conv3dImpl(const Conv3dOptions& opts);
  Tensor forward(const Tensor& input) { return convolve(input); }
  /// Like forward(), followed by an activation; see Conv1d.
  Tensor forward_map(const Tensor& input, UnaryOp activation) {
    return convolve(input, activation);
  }
};
AMBIT_MODULE(Conv3d);

}  // namespace ambit::nn
