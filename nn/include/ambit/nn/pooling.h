// MaxPool2d, AvgPool2d, AdaptiveAvgPool2d: [N,C,H,W] or [C,H,W], windows in elements (h, w).
// Errors of all: Error at construction for windows, strides or dilations below 1, or padding that
// is negative or above half a window.
#pragma once

#include <ambit/nn/cloneable.h>
#include <ambit/nn/options.h>

#include <tuple>

namespace ambit::nn {

/// Stride is the kernel's size unless set.
class MaxPool2dOptions : public Options<MaxPool2dOptions> {
 public:
  MaxPool2dOptions(IntOrPair kernel_size) : params_{.kernel = kernel_size, .stride = kernel_size} {}
  MaxPool2dOptions& stride(IntOrPair n) { return set(params_.stride, n); }
  MaxPool2dOptions& padding(IntOrPair n) { return set(params_.padding, n); }
  MaxPool2dOptions& dilation(IntOrPair n) { return set(params_.dilation, n); }
  MaxPool2dOptions& ceil_mode(bool on) { return set(params_.ceil_mode, on); }
  const Pair& kernel_size() const { return params_.kernel; }
  const Pair& stride() const { return params_.stride; }
  const Pair& padding() const { return params_.padding; }
  const Pair& dilation() const { return params_.dilation; }
  bool ceil_mode() const { return params_.ceil_mode; }
  const Pool2dParams& params() const { return params_; }

 private:
  Pool2dParams params_;
};

class AMBIT_API MaxPool2dImpl : public Cloneable<MaxPool2dImpl> {
 public:
  explicit MaxPool2dImpl(IntOrPair kernel_size) : MaxPool2dImpl(MaxPool2dOptions(kernel_size)) {}
  MaxPool2dImpl(IntOrPair kernel_size, IntOrPair stride, IntOrPair padding = 0)
      : MaxPool2dImpl(MaxPool2dOptions(kernel_size).stride(stride).padding(padding)) {}
  explicit MaxPool2dImpl(const MaxPool2dOptions& opts);
  void reset() override;
  Tensor forward(const Tensor& input);
  /// Also return the position h * W + w of each maximum.
  std::tuple<Tensor, Tensor> forward_with_indices(const Tensor& input);
  void pretty_print(std::ostream& os) const override;

  MaxPool2dOptions options;
};
AMBIT_MODULE(MaxPool2d);

/// Stride is the kernel's size unless set.
class AvgPool2dOptions : public Options<AvgPool2dOptions> {
 public:
  AvgPool2dOptions(IntOrPair kernel_size) : params_{.kernel = kernel_size, .stride = kernel_size} {}
  AvgPool2dOptions& stride(IntOrPair n) { return set(params_.stride, n); }
  AvgPool2dOptions& padding(IntOrPair n) { return set(params_.padding, n); }
  AvgPool2dOptions& ceil_mode(bool on) { return set(params_.ceil_mode, on); }
  AvgPool2dOptions& count_include_pad(bool on) { return set(params_.count_include_pad, on); }
  const Pair& kernel_size() const { return params_.kernel; }
  const Pair& stride() const { return params_.stride; }
  const Pair& padding() const { return params_.padding; }
  bool ceil_mode() const { return params_.ceil_mode; }
  bool count_include_pad() const { return params_.count_include_pad; }
  const Pool2dParams& params() const { return params_; }

 private:
  Pool2dParams params_;
};

class AMBIT_API AvgPool2dImpl : public Cloneable<AvgPool2dImpl> {
 public:
  explicit AvgPool2dImpl(IntOrPair kernel_size) : AvgPool2dImpl(AvgPool2dOptions(kernel_size)) {}
  AvgPool2dImpl(IntOrPair kernel_size, IntOrPair stride, IntOrPair padding = 0)
      : AvgPool2dImpl(AvgPool2dOptions(kernel_size).stride(stride).padding(padding)) {}
  explicit AvgPool2dImpl(const AvgPool2dOptions& opts);
  void reset() override;
  Tensor forward(const Tensor& input);
  void pretty_print(std::ostream& os) const override;

  AvgPool2dOptions options;
};
AMBIT_MODULE(AvgPool2d);

class AdaptiveAvgPool2dOptions : public Options<AdaptiveAvgPool2dOptions> {
 public:
  AdaptiveAvgPool2dOptions(IntOrPair output_size) : output_size_(output_size) {}
  AdaptiveAvgPool2dOptions& output_size(IntOrPair n) { return set(output_size_, n); }
  const Pair& output_size() const { return output_size_; }

 private:
  Pair output_size_;  // -1: the input's
};

/// Average to a given output size, whatever the input's; -1 keeps it. Errors: Error for other sizes
/// below 0.
class AMBIT_API AdaptiveAvgPool2dImpl : public Cloneable<AdaptiveAvgPool2dImpl> {
 public:
  explicit AdaptiveAvgPool2dImpl(IntOrPair output_size)
      : AdaptiveAvgPool2dImpl(AdaptiveAvgPool2dOptions(output_size)) {}
  explicit AdaptiveAvgPool2dImpl(const AdaptiveAvgPool2dOptions& opts);
  void reset() override;
  Tensor forward(const Tensor& input);
  void pretty_print(std::ostream& os) const override;

  AdaptiveAvgPool2dOptions options;
};
AMBIT_MODULE(AdaptiveAvgPool2d);

}  // namespace ambit::nn
