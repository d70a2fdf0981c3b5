// Pooling modules in one to three spatial dims: MaxPool, AvgPool, AdaptiveMaxPool, AdaptiveAvgPool,
// MaxUnpool, FractionalMaxPool, LPPool. They have no parameters. Input [N,C,L], [N,C,H,W] or
// [N,C,D,H,W], or without N; floating point. Window sizes are in elements, one number or one per
// dim. Errors and gradients of forward: those of the functions of ops/pool.h and
// functional/pooling.h. Errors of all: Error at construction for windows, strides or dilations
// below 1, and for padding that is negative or more than half a window.
#pragma once

#include <ambit/nn/any_module.h>
#include <ambit/nn/cloneable.h>
#include <ambit/nn/functional/pooling.h>

#include <iosfwd>
#include <optional>
#include <tuple>
#include <vector>

namespace ambit::nn {
namespace detail {

/// Base of MaxPool1d-3d, for D spatial dims.
template <size_t D, class Derived>
class AMBIT_API MaxPoolImpl : public Cloneable<Derived> {
 public:
  MaxPoolImpl(ExpandingArray<D> kernel_size) : MaxPoolImpl(MaxPoolOptions<D>(kernel_size)) {}
  MaxPoolImpl(ExpandingArray<D> kernel_size, ExpandingArray<D> stride,
              ExpandingArray<D> padding = 0)
      : MaxPoolImpl(MaxPoolOptions<D>(kernel_size).stride(stride).padding(padding)) {}
  explicit MaxPoolImpl(const MaxPoolOptions<D>& opts);
  void reset() override;
  Tensor forward(const Tensor& input);
  /// Also return the position of each maximum within its image, int64, of the output's shape: l, h
  /// * W + w or (d * H + h) * W + w.
  std::tuple<Tensor, Tensor> forward_with_indices(const Tensor& input);
  void pretty_print(std::ostream& os) const override;

  MaxPoolOptions<D> options;
};

/// Base of AvgPool1d-3d.
template <size_t D, class Derived>
class AMBIT_API AvgPoolImpl : public Cloneable<Derived> {
 public:
  AvgPoolImpl(ExpandingArray<D> kernel_size) : AvgPoolImpl(AvgPoolOptions<D>(kernel_size)) {}
  AvgPoolImpl(ExpandingArray<D> kernel_size, ExpandingArray<D> stride,
              ExpandingArray<D> padding = 0)
      : AvgPoolImpl(AvgPoolOptions<D>(kernel_size).stride(stride).padding(padding)) {}
  explicit AvgPoolImpl(const AvgPoolOptions<D>& opts);
  void reset() override;
  Tensor forward(const Tensor& input);
  void pretty_print(std::ostream& os) const override;

  AvgPoolOptions<D> options;
};

/// Base of AdaptiveMaxPool1d-3d.
template <size_t D, class Derived, class Size>
class AMBIT_API AdaptiveMaxPoolImpl : public Cloneable<Derived> {
 public:
  AdaptiveMaxPoolImpl(Size output_size)
      : AdaptiveMaxPoolImpl(AdaptiveMaxPoolOptions<Size>(output_size)) {}
  explicit AdaptiveMaxPoolImpl(const AdaptiveMaxPoolOptions<Size>& opts);
  void reset() override;
  Tensor forward(const Tensor& input);
  /// Also return the positions, as MaxPool does.
  std::tuple<Tensor, Tensor> forward_with_indices(const Tensor& input);
  void pretty_print(std::ostream& os) const override;

  AdaptiveMaxPoolOptions<Size> options;
};

/// Base of AdaptiveAvgPool1d-3d.
template <size_t D, class Derived, class Size>
class AMBIT_API AdaptiveAvgPoolImpl : public Cloneable<Derived> {
 public:
  AdaptiveAvgPoolImpl(Size output_size)
      : AdaptiveAvgPoolImpl(AdaptiveAvgPoolOptions<Size>(output_size)) {}
  explicit AdaptiveAvgPoolImpl(const AdaptiveAvgPoolOptions<Size>& opts);
  void reset() override;
  Tensor forward(const Tensor& input);
  void pretty_print(std::ostream& os) const override;

  AdaptiveAvgPoolOptions<Size> options;
};

/// Base of MaxUnpool1d-3d.
template <size_t D, class Derived>
class AMBIT_API MaxUnpoolImpl : public Cloneable<Derived> {
 public:
  MaxUnpoolImpl(ExpandingArray<D> kernel_size) : MaxUnpoolImpl(MaxUnpoolOptions<D>(kernel_size)) {}
  explicit MaxUnpoolImpl(const MaxUnpoolOptions<D>& opts);
  void reset() override;
  /// input and indices: the results of forward_with_indices() of the MaxPool. output_size: spatial
  /// sizes or all sizes of the output; by default the smallest ones that the MaxPool reduces to
  /// those of the input.
  Tensor forward(const Tensor& input, const Tensor& indices,
                 const std::optional<std::vector<int64_t>>& output_size = {});
  void pretty_print(std::ostream& os) const override;

  MaxUnpoolOptions<D> options;

 private:
  friend AnyModule;
  static AnyModule::Defaults forward_defaults() {
    return {{2, AnyValue(std::optional<std::vector<int64_t>>())}};
  }
};

/// Base of FractionalMaxPool2d and 3d.
template <size_t D, class Derived>
class AMBIT_API FractionalMaxPoolImpl : public Cloneable<Derived> {
 public:
  FractionalMaxPoolImpl(ExpandingArray<D> kernel_size)
      : FractionalMaxPoolImpl(FractionalMaxPoolOptions<D>(kernel_size)) {}
  explicit FractionalMaxPoolImpl(const FractionalMaxPoolOptions<D>& opts);
  void reset() override;
  Tensor forward(const Tensor& input);
  /// Also return the positions, as MaxPool does.
  std::tuple<Tensor, Tensor> forward_with_indices(const Tensor& input);
  void pretty_print(std::ostream& os) const override;

  FractionalMaxPoolOptions<D> options;
  Tensor _random_samples;  ///< The option, as a buffer; undefined if it is not given.
};

/// Base of LPPool1d-3d.
template <size_t D, class Derived>
class AMBIT_API LPPoolImpl : public Cloneable<Derived> {
 public:
  LPPoolImpl(double norm_type, ExpandingArray<D> kernel_size)
      : LPPoolImpl(LPPoolOptions<D>(norm_type, kernel_size)) {}
  explicit LPPoolImpl(const LPPoolOptions<D>& opts);
  void reset() override;
  Tensor forward(const Tensor& input);
  void pretty_print(std::ostream& os) const override;

  LPPoolOptions<D> options;
};

}  // namespace detail

/// Maximum of each window, [N,C,L] -> [N,C,P]; see max_pool1d(). Padding is -inf.
class AMBIT_API MaxPool1dImpl : public detail::MaxPoolImpl<1, MaxPool1dImpl> {
 public:
  using MaxPoolImpl::MaxPoolImpl;
};
AMBIT_MODULE(MaxPool1d);
/// Maximum of each window, [N,C,H,W] -> [N,C,P,Q]; see max_pool2d(). Padding is -inf.
class AMBIT_API MaxPool2dImpl : public detail::MaxPoolImpl<2, MaxPool2dImpl> {
 public:
  using MaxPoolImpl::MaxPoolImpl;
};
AMBIT_MODULE(MaxPool2d);
/// Maximum of each window, [N,C,D,H,W] -> [N,C,O,P,Q]; see max_pool3d(). Padding is -inf.
class AMBIT_API MaxPool3dImpl : public detail::MaxPoolImpl<3, MaxPool3dImpl> {
 public:
  using MaxPoolImpl::MaxPoolImpl;
};
AMBIT_MODULE(MaxPool3d);

/// Mean of each window, [N,C,L] -> [N,C,P]; see avg_pool1d(). Padding is 0.
class AMBIT_API AvgPool1dImpl : public detail::AvgPoolImpl<1, AvgPool1dImpl> {
 public:
  using AvgPoolImpl::AvgPoolImpl;
};
AMBIT_MODULE(AvgPool1d);
/// Mean of each window, [N,C,H,W] -> [N,C,P,Q]; see avg_pool2d(). Padding is 0.
class AMBIT_API AvgPool2dImpl : public detail::AvgPoolImpl<2, AvgPool2dImpl> {
 public:
  using AvgPoolImpl::AvgPoolImpl;
};
AMBIT_MODULE(AvgPool2d);
/// Mean of each window, [N,C,D,H,W] -> [N,C,O,P,Q]; see avg_pool3d(). Padding is 0.
class AMBIT_API AvgPool3dImpl : public detail::AvgPoolImpl<3, AvgPool3dImpl> {
 public:
  using AvgPoolImpl::AvgPoolImpl;
};
AMBIT_MODULE(AvgPool3d);

/// Maximum of windows chosen to give the output size, [N,C,L] -> [N,C,P]; see
/// adaptive_max_pool1d().
class AMBIT_API AdaptiveMaxPool1dImpl
    : public detail::AdaptiveMaxPoolImpl<1, AdaptiveMaxPool1dImpl, ExpandingArray<1>> {
 public:
  using AdaptiveMaxPoolImpl::AdaptiveMaxPoolImpl;
};
AMBIT_MODULE(AdaptiveMaxPool1d);
/// Maximum of windows chosen to give the output size, [N,C,H,W] -> [N,C,P,Q]; see
/// adaptive_max_pool2d().
class AMBIT_API AdaptiveMaxPool2dImpl
    : public detail::AdaptiveMaxPoolImpl<2, AdaptiveMaxPool2dImpl,
                                         ExpandingArrayWithOptionalElem<2>> {
 public:
  using AdaptiveMaxPoolImpl::AdaptiveMaxPoolImpl;
};
AMBIT_MODULE(AdaptiveMaxPool2d);
/// Maximum of windows chosen to give the output size, [N,C,D,H,W] -> [N,C,O,P,Q]; see
/// adaptive_max_pool3d().
class AMBIT_API AdaptiveMaxPool3dImpl
    : public detail::AdaptiveMaxPoolImpl<3, AdaptiveMaxPool3dImpl,
                                         ExpandingArrayWithOptionalElem<3>> {
 public:
  using AdaptiveMaxPoolImpl::AdaptiveMaxPoolImpl;
};
AMBIT_MODULE(AdaptiveMaxPool3d);

/// Mean of windows chosen to give the output size, [N,C,L] -> [N,C,P]; see adaptive_avg_pool1d().
/// Errors: Error for sizes below 0 other than -1.
class AMBIT_API AdaptiveAvgPool1dImpl
    : public detail::AdaptiveAvgPoolImpl<1, AdaptiveAvgPool1dImpl, ExpandingArray<1>> {
 public:
  using AdaptiveAvgPoolImpl::AdaptiveAvgPoolImpl;
};
AMBIT_MODULE(AdaptiveAvgPool1d);
/// Mean of windows chosen to give the output size, [N,C,H,W] -> [N,C,P,Q]; see
/// adaptive_avg_pool2d(). Errors: Error for sizes below 0 other than -1.
class AMBIT_API AdaptiveAvgPool2dImpl
    : public detail::AdaptiveAvgPoolImpl<2, AdaptiveAvgPool2dImpl,
                                         ExpandingArrayWithOptionalElem<2>> {
 public:
  using AdaptiveAvgPoolImpl::AdaptiveAvgPoolImpl;
};
AMBIT_MODULE(AdaptiveAvgPool2d);
/// Mean of windows chosen to give the output size, [N,C,D,H,W] -> [N,C,O,P,Q]; see
/// adaptive_avg_pool3d(). Errors: Error for sizes below 0 other than -1.
class AMBIT_API AdaptiveAvgPool3dImpl
    : public detail::AdaptiveAvgPoolImpl<3, AdaptiveAvgPool3dImpl,
                                         ExpandingArrayWithOptionalElem<3>> {
 public:
  using AdaptiveAvgPoolImpl::AdaptiveAvgPoolImpl;
};
AMBIT_MODULE(AdaptiveAvgPool3d);

/// Write maxima to their positions in zeros: inverse of MaxPool1d, [N,C,P] -> [N,C,L]; see
/// functional::max_unpool1d().
class AMBIT_API MaxUnpool1dImpl : public detail::MaxUnpoolImpl<1, MaxUnpool1dImpl> {
 public:
  using MaxUnpoolImpl::MaxUnpoolImpl;
};
AMBIT_MODULE(MaxUnpool1d);
/// Inverse of MaxPool2d, zero at all other positions, [N,C,P,Q] -> [N,C,H,W]; see
/// functional::max_unpool2d().
class AMBIT_API MaxUnpool2dImpl : public detail::MaxUnpoolImpl<2, MaxUnpool2dImpl> {
 public:
  using MaxUnpoolImpl::MaxUnpoolImpl;
};
AMBIT_MODULE(MaxUnpool2d);
/// Inverse of MaxPool3d, zero at all other positions, [N,C,O,P,Q] -> [N,C,D,H,W]; see
/// functional::max_unpool3d().
class AMBIT_API MaxUnpool3dImpl : public detail::MaxUnpoolImpl<3, MaxUnpool3dImpl> {
 public:
  using MaxUnpoolImpl::MaxUnpoolImpl;
};
AMBIT_MODULE(MaxUnpool3d);

/// Maximum of windows at random positions, [N,C,H,W] -> [N,C,P,Q]; see fractional_max_pool2d().
/// Errors: Error unless the options have exactly one of output_size and output_ratio, which is in
/// (0, 1).
class AMBIT_API FractionalMaxPool2dImpl
    : public detail::FractionalMaxPoolImpl<2, FractionalMaxPool2dImpl> {
 public:
  using FractionalMaxPoolImpl::FractionalMaxPoolImpl;
};
AMBIT_MODULE(FractionalMaxPool2d);
/// Maximum of windows at random positions, [N,C,D,H,W] -> [N,C,O,P,Q]; see fractional_max_pool3d().
/// Errors: as FractionalMaxPool2d.
class AMBIT_API FractionalMaxPool3dImpl
    : public detail::FractionalMaxPoolImpl<3, FractionalMaxPool3dImpl> {
 public:
  using FractionalMaxPoolImpl::FractionalMaxPoolImpl;
};
AMBIT_MODULE(FractionalMaxPool3d);

/// p-th root of the sum of p-th powers in each window, [N,C,L] -> [N,C,P]; see
/// functional::lp_pool1d().
class AMBIT_API LPPool1dImpl : public detail::LPPoolImpl<1, LPPool1dImpl> {
 public:
  using LPPoolImpl::LPPoolImpl;
};
AMBIT_MODULE(LPPool1d);
/// p-th root of the sum of p-th powers in each window, [N,C,H,W] -> [N,C,P,Q]; see
/// functional::lp_pool2d().
class AMBIT_API LPPool2dImpl : public detail::LPPoolImpl<2, LPPool2dImpl> {
 public:
  using LPPoolImpl::LPPoolImpl;
};
AMBIT_MODULE(LPPool2d);
/// p-th root of the sum of p-th powers in each window, [N,C,D,H,W] -> [N,C,O,P,Q]; see
/// functional::lp_pool3d().
class AMBIT_API LPPool3dImpl : public detail::LPPoolImpl<3, LPPool3dImpl> {
 public:
  using LPPoolImpl::LPPoolImpl;
};
AMBIT_MODULE(LPPool3d);

}  // namespace ambit::nn
