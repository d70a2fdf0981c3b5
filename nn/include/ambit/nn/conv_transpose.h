// Conv1d and the transposed convolutions.
#pragma once

#include <ambit/nn/cloneable.h>
#include <ambit/nn/options.h>

#include <optional>

namespace ambit::nn {

/// Options of Conv1d; sizes in elements.
class Conv1dOptions : public Options<Conv1dOptions> {
 public:
  Conv1dOptions(int64_t in_channels, int64_t out_channels, int64_t kernel_size)
      : in_channels_(in_channels), out_channels_(out_channels), kernel_size_(kernel_size) {}

  AMBIT_OPTION(Conv1dOptions, int64_t, in_channels);
  AMBIT_OPTION(Conv1dOptions, int64_t, out_channels);
  AMBIT_OPTION(Conv1dOptions, int64_t, kernel_size);
  AMBIT_OPTION(Conv1dOptions, int64_t, stride) = 1;
  AMBIT_OPTION(Conv1dOptions, int64_t, padding) = 0;
  AMBIT_OPTION(Conv1dOptions, int64_t, dilation) = 1;
  AMBIT_OPTION(Conv1dOptions, int64_t, groups) = 1;
  AMBIT_OPTION(Conv1dOptions, bool, bias) = true;
};

/// Convolve: x [N, in_channels, L] -> y [N, out_channels, P], or both without N; see conv1d().
/// weight [out_channels, in_channels / groups, kernel_size] and bias [out_channels] start as those
/// of Conv2d. Errors: Error for sizes below 1 (padding: 0), or groups that do not divide both
/// channels; of forward those of conv1d().
class AMBIT_API Conv1dImpl : public Cloneable<Conv1dImpl> {
 public:
  Conv1dImpl(int64_t in_channels, int64_t out_channels, int64_t kernel_size)
      : Conv1dImpl(Conv1dOptions(in_channels, out_channels, kernel_size)) {}
  explicit Conv1dImpl(const Conv1dOptions& opts);
  void reset() override;
  /// Draw weight and bias anew.
  void reset_parameters();
  Tensor forward(const Tensor& input);
  void pretty_print(std::ostream& os) const override;

  Conv1dOptions options;
  Tensor weight, bias;
};
AMBIT_MODULE(Conv1d);

/// Options of ConvTranspose1d; sizes in elements. output_padding: added to one side of the output.
class ConvTranspose1dOptions : public Options<ConvTranspose1dOptions> {
 public:
  ConvTranspose1dOptions(int64_t in_channels, int64_t out_channels, int64_t kernel_size)
      : in_channels_(in_channels), out_channels_(out_channels), kernel_size_(kernel_size) {}

  AMBIT_OPTION(ConvTranspose1dOptions, int64_t, in_channels);
  AMBIT_OPTION(ConvTranspose1dOptions, int64_t, out_channels);
  AMBIT_OPTION(ConvTranspose1dOptions, int64_t, kernel_size);
  AMBIT_OPTION(ConvTranspose1dOptions, int64_t, stride) = 1;
  AMBIT_OPTION(ConvTranspose1dOptions, int64_t, padding) = 0;
  AMBIT_OPTION(ConvTranspose1dOptions, int64_t, output_padding) = 0;
  AMBIT_OPTION(ConvTranspose1dOptions, int64_t, dilation) = 1;
  AMBIT_OPTION(ConvTranspose1dOptions, int64_t, groups) = 1;
  AMBIT_OPTION(ConvTranspose1dOptions, bool, bias) = true;
};

/// Convolve backwards: x [N, in_channels, L] -> y [N, out_channels, P], or both without N; see
/// conv_transpose1d(). weight [in_channels, out_channels / groups, kernel_size] and bias
/// [out_channels] start uniform in +-1/sqrt(fan_in), fan_in = out_channels / groups * kernel.
/// Errors: as Conv1d.
class AMBIT_API ConvTranspose1dImpl : public Cloneable<ConvTranspose1dImpl> {
 public:
  ConvTranspose1dImpl(int64_t in_channels, int64_t out_channels, int64_t kernel_size)
      : ConvTranspose1dImpl(ConvTranspose1dOptions(in_channels, out_channels, kernel_size)) {}
  explicit ConvTranspose1dImpl(const ConvTranspose1dOptions& opts);
  void reset() override;
  /// Draw weight and bias anew.
  void reset_parameters();
  /// output_size, if given, chooses output_padding: the last 1 sizes of the output. Errors also:
  /// ShapeError where none leads to it.
  Tensor forward(const Tensor& input, std::optional<IntArrayRef> output_size = {});
  void pretty_print(std::ostream& os) const override;

  ConvTranspose1dOptions options;
  Tensor weight, bias;
};
AMBIT_MODULE(ConvTranspose1d);

/// Options of ConvTranspose2d; sizes in elements. output_padding: added to one side of the output.
class ConvTranspose2dOptions : public Options<ConvTranspose2dOptions> {
 public:
  ConvTranspose2dOptions(int64_t in_channels, int64_t out_channels, IntOrPair kernel_size)
      : in_channels_(in_channels), out_channels_(out_channels), kernel_size_(kernel_size) {}

  AMBIT_OPTION(ConvTranspose2dOptions, int64_t, in_channels);
  AMBIT_OPTION(ConvTranspose2dOptions, int64_t, out_channels);
  AMBIT_OPTION(ConvTranspose2dOptions, IntOrPair, kernel_size);
  AMBIT_OPTION(ConvTranspose2dOptions, IntOrPair, stride) = 1;
  AMBIT_OPTION(ConvTranspose2dOptions, IntOrPair, padding) = 0;
  AMBIT_OPTION(ConvTranspose2dOptions, IntOrPair, output_padding) = 0;
  AMBIT_OPTION(ConvTranspose2dOptions, IntOrPair, dilation) = 1;
  AMBIT_OPTION(ConvTranspose2dOptions, int64_t, groups) = 1;
  AMBIT_OPTION(ConvTranspose2dOptions, bool, bias) = true;
};

/// Convolve backwards: x [N, in_channels, H, W] -> y [N, out_channels, P, Q], or both without N;
/// see conv_transpose2d(). weight [in_channels, out_channels / groups, h, w] and bias
/// [out_channels] start uniform in +-1/sqrt(fan_in), fan_in = out_channels / groups * kernel.
/// Errors: as Conv2d.
class AMBIT_API ConvTranspose2dImpl : public Cloneable<ConvTranspose2dImpl> {
 public:
  ConvTranspose2dImpl(int64_t in_channels, int64_t out_channels, IntOrPair kernel_size)
      : ConvTranspose2dImpl(ConvTranspose2dOptions(in_channels, out_channels, kernel_size)) {}
  explicit ConvTranspose2dImpl(const ConvTranspose2dOptions& opts);
  void reset() override;
  /// Draw weight and bias anew.
  void reset_parameters();
  /// output_size, if given, chooses output_padding: the last 2 sizes of the output. Errors also:
  /// ShapeError where none leads to it.
  Tensor forward(const Tensor& input, std::optional<IntArrayRef> output_size = {});
  void pretty_print(std::ostream& os) const override;

  ConvTranspose2dOptions options;
  Tensor weight, bias;
};
AMBIT_MODULE(ConvTranspose2d);

}  // namespace ambit::nn
