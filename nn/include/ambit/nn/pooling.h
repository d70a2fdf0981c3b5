// MaxPool2d, AvgPool2d, AdaptiveAvgPool2d: [N,C,H,W] -> [N,C,P,Q], or both without N; floating
// point; windows in elements, one number or (h, w).
//   P = floor((H + 2 padding - dilation (kernel_size - 1) - 1) / stride) + 1, Q likewise of W
// but with ceil_mode rounded up, unless the last window would begin behind the input and its left
// padding: (P - 1) stride >= H + padding. Errors of forward: those of the functions of ops/pool.h.
// Errors of all: Error at construction for windows, strides or dilations below 1, or padding that
// is negative or above half a window.
#pragma once

#include <ambit/nn/cloneable.h>
#include <ambit/nn/options.h>

#include <tuple>

namespace ambit::nn {

namespace detail {
inline PerAxis both(IntOrPair n) { return {Pair(n).h, Pair(n).w}; }
}  // namespace detail

/// Options of MaxPool2d. Defaults: stride kernel_size, padding 0, dilation 1, ceil_mode false.
class MaxPool2dOptions : public Options<MaxPool2dOptions> {
 public:
  MaxPool2dOptions(IntOrPair kernel_size) : params_{.kernel = detail::both(kernel_size)} {}
  MaxPool2dOptions& stride(IntOrPair n) { return set(params_.stride, detail::both(n)); }
  MaxPool2dOptions& padding(IntOrPair n) { return set(params_.padding, detail::both(n)); }
  MaxPool2dOptions& dilation(IntOrPair n) { return set(params_.dilation, detail::both(n)); }
  MaxPool2dOptions& ceil_mode(bool on) { return set(params_.ceil_mode, on); }
  const PerAxis& kernel_size() const { return params_.kernel; }
  const PerAxis& stride() const { return params_.stride; }
  const PerAxis& padding() const { return params_.padding; }
  const PerAxis& dilation() const { return params_.dilation; }
  bool ceil_mode() const { return params_.ceil_mode; }
  const PoolParams& params() const { return params_; }

 private:
  PoolParams params_;
};

/// Take the maximum of each window; see max_pool2d(). Padding counts as minus infinity.
class AMBIT_API MaxPool2dImpl : public Cloneable<MaxPool2dImpl> {
 public:
  explicit MaxPool2dImpl(IntOrPair kernel_size) : MaxPool2dImpl(MaxPool2dOptions(kernel_size)) {}
  MaxPool2dImpl(IntOrPair kernel_size, IntOrPair stride, IntOrPair padding = 0)
      : MaxPool2dImpl(MaxPool2dOptions(kernel_size).stride(stride).padding(padding)) {}
  explicit MaxPool2dImpl(const MaxPool2dOptions& opts);
  void reset() override;
  Tensor forward(const Tensor& input);
  /// Also return the position h * W + w in its plane of each maximum: int64, of forward's shape.
  std::tuple<Tensor, Tensor> forward_with_indices(const Tensor& input);
  void pretty_print(std::ostream& os) const override;

  MaxPool2dOptions options;
};
AMBIT_MODULE(MaxPool2d);

/// Options of AvgPool2d. count_include_pad: whether padding counts in the divisor. Defaults: stride
/// kernel_size, padding 0, ceil_mode false, count_include_pad true.
class AvgPool2dOptions : public Options<AvgPool2dOptions> {
 public:
  AvgPool2dOptions(IntOrPair kernel_size) : params_{.kernel = detail::both(kernel_size)} {}
  AvgPool2dOptions& stride(IntOrPair n) { return set(params_.stride, detail::both(n)); }
  AvgPool2dOptions& padding(IntOrPair n) { return set(params_.padding, detail::both(n)); }
  AvgPool2dOptions& ceil_mode(bool on) { return set(params_.ceil_mode, on); }
  AvgPool2dOptions& count_include_pad(bool on) { return set(params_.count_include_pad, on); }
  const PerAxis& kernel_size() const { return params_.kernel; }
  const PerAxis& stride() const { return params_.stride; }
  const PerAxis& padding() const { return params_.padding; }
  bool ceil_mode() const { return params_.ceil_mode; }
  bool count_include_pad() const { return params_.count_include_pad; }
  const PoolParams& params() const { return params_; }

 private:
  PoolParams params_;
};

/// Take the mean of each window; see avg_pool2d(). Padding is zero.
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

/// Options of AdaptiveAvgPool2d. output_size: (P, Q), or one number for both; -1: the input's.
class AdaptiveAvgPool2dOptions : public Options<AdaptiveAvgPool2dOptions> {
 public:
  AdaptiveAvgPool2dOptions(IntOrPair output_size) : output_size_(output_size) {}
  AdaptiveAvgPool2dOptions& output_size(IntOrPair n) { return set(output_size_, n); }
  const Pair& output_size() const { return output_size_; }

 private:
  Pair output_size_;  // -1: the input's
};

/// Average [N,C,H,W] -> [N,C,P,Q] of a given size (P, Q), whatever H and W; see
/// adaptive_avg_pool2d(). Window i is from floor(i H / P) to ceil((i + 1) H / P).
/// Errors: Error for sizes below 0 other than -1; of forward ShapeError for 0.
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
