// Conv2d.
#pragma once

#include <ambit/nn/cloneable.h>
#include <ambit/nn/options.h>

namespace ambit::nn {

/// Options of Conv2d; sizes in elements, one number or (h, w). Defaults: stride 1, padding 0 (zeros
/// on both sides), dilation 1, groups 1, bias true.
class Conv2dOptions : public Options<Conv2dOptions> {
 public:
  Conv2dOptions(int64_t in_channels, int64_t out_channels, IntOrPair kernel_size)
      : in_channels_(in_channels), out_channels_(out_channels), kernel_size_(kernel_size) {}
  Conv2dOptions& in_channels(int64_t n) { return set(in_channels_, n); }
  Conv2dOptions& out_channels(int64_t n) { return set(out_channels_, n); }
  Conv2dOptions& kernel_size(IntOrPair n) { return set(kernel_size_, n); }
  Conv2dOptions& stride(IntOrPair n) { return set(stride_, n); }
  Conv2dOptions& padding(IntOrPair n) { return set(padding_, n); }
  Conv2dOptions& dilation(IntOrPair n) { return set(dilation_, n); }
  Conv2dOptions& groups(int64_t n) { return set(groups_, n); }
  Conv2dOptions& bias(bool on) { return set(bias_, on); }
  int64_t in_channels() const { return in_channels_; }
  int64_t out_channels() const { return out_channels_; }
  const Pair& kernel_size() const { return kernel_size_; }
  const Pair& stride() const { return stride_; }
  const Pair& padding() const { return padding_; }
  const Pair& dilation() const { return dilation_; }
  int64_t groups() const { return groups_; }
  bool bias() const { return bias_; }
  /// Return stride, padding, dilation and groups as conv2d() takes them.
  ConvParams params() const {
    return {{stride_.h, stride_.w}, {padding_.h, padding_.w}, {dilation_.h, dilation_.w}, groups_};
  }

 private:
  int64_t in_channels_, out_channels_;
  Pair kernel_size_;
  Pair stride_{1, 1}, padding_{0, 0}, dilation_{1, 1};
  int64_t groups_ = 1;
  bool bias_ = true;
};

/// Convolve: x [N, in_channels, H, W] -> y [N, out_channels, P, Q], or both without N; see
/// conv2d().
///   P = floor((H + 2 padding - dilation (kernel_size - 1) - 1) / stride) + 1, Q likewise of W
/// weight [out_channels, in_channels / groups, h, w] and bias [out_channels] start uniform in
/// +-1/sqrt(fan_in), fan_in = in_channels / groups * h * w.
/// Errors: Error for sizes below 1 (padding: 0), or groups that do not divide both channels; of
/// forward those of conv2d(). Source of the start: He et al. 2015, as torch.nn.Conv2d.
class AMBIT_API Conv2dImpl : public Cloneable<Conv2dImpl> {
 public:
  Conv2dImpl(int64_t in_channels, int64_t out_channels, IntOrPair kernel_size, IntOrPair stride = 1,
             IntOrPair padding = 0)
      : Conv2dImpl(
            Conv2dOptions(in_channels, out_channels, kernel_size).stride(stride).padding(padding)) {
  }
  explicit Conv2dImpl(const Conv2dOptions& opts);
  void reset() override;
  /// Draw weight and bias anew.
  void reset_parameters();
  Tensor forward(const Tensor& input);
  void pretty_print(std::ostream& os) const override;

  Conv2dOptions options;
  Tensor weight, bias;
};
AMBIT_MODULE(Conv2d);

}  // namespace ambit::nn
