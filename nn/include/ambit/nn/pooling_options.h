// Options of pooling modules and functions. kernel_size, stride and padding are in elements, one
// number or one per spatial dim; stride defaults to kernel_size. ceil_mode: round output sizes up,
// default false.
#pragma once

#include <ambit/nn/expanding_array.h>
#include <ambit/nn/options.h>
#include <ambit/tensor.h>

#include <optional>
#include <vector>

namespace ambit::nn {

/// Options of MaxPool1d-3d; sizes are in elements, one number or D.
template <size_t D>
class MaxPoolOptions : public Options<MaxPoolOptions<D>> {
 public:
  MaxPoolOptions(ExpandingArray<D> kernel_size) : kernel_size_(kernel_size), stride_(kernel_size) {}
  /// Return the parameters for the functions of ops/pool.h.
  PoolParams params() const {
    return {.kernel = *kernel_size_,
            .stride = *stride_,
            .padding = *padding_,
            .dilation = *dilation_,
            .ceil_mode = ceil_mode_};
  }

  /// Sizes of the window.
  AMBIT_OPTION(MaxPoolOptions, ExpandingArray<D>, kernel_size);
  /// Step between windows. Default: kernel_size.
  AMBIT_OPTION(MaxPoolOptions, ExpandingArray<D>, stride);
  /// Elements of -inf added on both sides; at most half a window.
  AMBIT_OPTION(MaxPoolOptions, ExpandingArray<D>, padding) = 0;
  /// Step between the elements of a window.
  AMBIT_OPTION(MaxPoolOptions, ExpandingArray<D>, dilation) = 1;
  /// Round output sizes up, so that the last window may be incomplete.
  AMBIT_OPTION(MaxPoolOptions, bool, ceil_mode) = false;
};
using MaxPool1dOptions = MaxPoolOptions<1>;
using MaxPool2dOptions = MaxPoolOptions<2>;
using MaxPool3dOptions = MaxPoolOptions<3>;

/// Options of AvgPool1d-3d; sizes are in elements, one number or D.
template <size_t D>
class AvgPoolOptions : public Options<AvgPoolOptions<D>> {
 public:
  AvgPoolOptions(ExpandingArray<D> kernel_size) : kernel_size_(kernel_size), stride_(kernel_size) {}

  /// Sizes of the window.
  AMBIT_OPTION(AvgPoolOptions, ExpandingArray<D>, kernel_size);
  /// Step between windows. Default: kernel_size.
  AMBIT_OPTION(AvgPoolOptions, ExpandingArray<D>, stride);
  /// Zeros added on both sides; at most half a window.
  AMBIT_OPTION(AvgPoolOptions, ExpandingArray<D>, padding) = 0;
  /// Round output sizes up, so that the last window may be incomplete.
  AMBIT_OPTION(AvgPoolOptions, bool, ceil_mode) = false;
  /// Count padding in the divisor.
  AMBIT_OPTION(AvgPoolOptions, bool, count_include_pad) = true;
  /// Divide the sums by this number; not supported in 1-D. Default: the number of elements of
  /// the window.
  AMBIT_OPTION(AvgPoolOptions, std::optional<int64_t>, divisor_override);
};
using AvgPool1dOptions = AvgPoolOptions<1>;
using AvgPool2dOptions = AvgPoolOptions<2>;
using AvgPool3dOptions = AvgPoolOptions<3>;

/// Options of AdaptiveMaxPool1d-3d.
template <class Size>
class AdaptiveMaxPoolOptions : public Options<AdaptiveMaxPoolOptions<Size>> {
 public:
  AdaptiveMaxPoolOptions(Size output_size) : output_size_(output_size) {}

  /// The output's spatial sizes; nullopt or -1: the input's.
  AMBIT_OPTION(AdaptiveMaxPoolOptions, Size, output_size);
};
using AdaptiveMaxPool1dOptions = AdaptiveMaxPoolOptions<ExpandingArray<1>>;
using AdaptiveMaxPool2dOptions = AdaptiveMaxPoolOptions<ExpandingArrayWithOptionalElem<2>>;
using AdaptiveMaxPool3dOptions = AdaptiveMaxPoolOptions<ExpandingArrayWithOptionalElem<3>>;

/// Options of AdaptiveAvgPool1d-3d.
template <class Size>
class AdaptiveAvgPoolOptions : public Options<AdaptiveAvgPoolOptions<Size>> {
 public:
  AdaptiveAvgPoolOptions(Size output_size) : output_size_(output_size) {}

  /// The output's spatial sizes; nullopt or -1: the input's.
  AMBIT_OPTION(AdaptiveAvgPoolOptions, Size, output_size);
};
using AdaptiveAvgPool1dOptions = AdaptiveAvgPoolOptions<ExpandingArray<1>>;
using AdaptiveAvgPool2dOptions = AdaptiveAvgPoolOptions<ExpandingArrayWithOptionalElem<2>>;
using AdaptiveAvgPool3dOptions = AdaptiveAvgPoolOptions<ExpandingArrayWithOptionalElem<3>>;

/// Options of MaxUnpool1d-3d: those of the MaxPool that it inverts.
template <size_t D>
class MaxUnpoolOptions : public Options<MaxUnpoolOptions<D>> {
 public:
  MaxUnpoolOptions(ExpandingArray<D> kernel_size)
      : kernel_size_(kernel_size), stride_(kernel_size) {}

  /// Sizes of the window.
  AMBIT_OPTION(MaxUnpoolOptions, ExpandingArray<D>, kernel_size);
  /// Step between windows. Default: kernel_size.
  AMBIT_OPTION(MaxUnpoolOptions, ExpandingArray<D>, stride);
  /// Padding of the MaxPool.
  AMBIT_OPTION(MaxUnpoolOptions, ExpandingArray<D>, padding) = 0;
};
using MaxUnpool1dOptions = MaxUnpoolOptions<1>;
using MaxUnpool2dOptions = MaxUnpoolOptions<2>;
using MaxUnpool3dOptions = MaxUnpoolOptions<3>;

/// Options of FractionalMaxPool; exactly one of output_size and output_ratio is given.
template <size_t D>
class FractionalMaxPoolOptions : public Options<FractionalMaxPoolOptions<D>> {
 public:
  using ExpandingArrayDouble = ExpandingArray<D, double>;
  FractionalMaxPoolOptions(ExpandingArray<D> kernel_size) : kernel_size_(kernel_size) {}

  /// Sizes of the window.
  AMBIT_OPTION(FractionalMaxPoolOptions, ExpandingArray<D>, kernel_size);
  /// The output's spatial sizes.
  AMBIT_OPTION(FractionalMaxPoolOptions, std::optional<ExpandingArray<D>>, output_size);
  /// Factor of the input's spatial sizes, in (0, 1).
  AMBIT_OPTION(FractionalMaxPoolOptions, std::optional<ExpandingArrayDouble>, output_ratio);
  /// Positions of the windows in [0, 1), [N,C,D]. Default: undefined, so random at each call.
  AMBIT_OPTION(FractionalMaxPoolOptions, Tensor, _random_samples);
};
using FractionalMaxPool2dOptions = FractionalMaxPoolOptions<2>;
using FractionalMaxPool3dOptions = FractionalMaxPoolOptions<3>;

/// Options of LPPool1d-3d; sizes are in elements, one number or D.
template <size_t D>
class LPPoolOptions : public Options<LPPoolOptions<D>> {
 public:
  LPPoolOptions(double norm_type, ExpandingArray<D> kernel_size)
      : norm_type_(norm_type), kernel_size_(kernel_size), stride_(kernel_size) {}

  /// The exponent p.
  AMBIT_OPTION(LPPoolOptions, double, norm_type);
  /// Sizes of the window.
  AMBIT_OPTION(LPPoolOptions, ExpandingArray<D>, kernel_size);
  /// Step between windows. Default: kernel_size.
  AMBIT_OPTION(LPPoolOptions, ExpandingArray<D>, stride);
  /// Round output sizes up, so that the last window may be incomplete.
  AMBIT_OPTION(LPPoolOptions, bool, ceil_mode) = false;
};
using LPPool1dOptions = LPPoolOptions<1>;
using LPPool2dOptions = LPPoolOptions<2>;
using LPPool3dOptions = LPPoolOptions<3>;

}  // namespace ambit::nn

namespace ambit::nn::functional {

using AdaptiveAvgPool1dFuncOptions = AdaptiveAvgPool1dOptions;
using AdaptiveAvgPool2dFuncOptions = AdaptiveAvgPool2dOptions;
using AdaptiveAvgPool3dFuncOptions = AdaptiveAvgPool3dOptions;
using AdaptiveMaxPool1dFuncOptions = AdaptiveMaxPool1dOptions;
using AdaptiveMaxPool2dFuncOptions = AdaptiveMaxPool2dOptions;
using AdaptiveMaxPool3dFuncOptions = AdaptiveMaxPool3dOptions;
using AvgPool1dFuncOptions = AvgPool1dOptions;
using AvgPool2dFuncOptions = AvgPool2dOptions;
using AvgPool3dFuncOptions = AvgPool3dOptions;
using FractionalMaxPool2dFuncOptions = FractionalMaxPool2dOptions;
using FractionalMaxPool3dFuncOptions = FractionalMaxPool3dOptions;
using LPPool1dFuncOptions = LPPool1dOptions;
using LPPool2dFuncOptions = LPPool2dOptions;
using LPPool3dFuncOptions = LPPool3dOptions;
using MaxPool1dFuncOptions = MaxPool1dOptions;
using MaxPool2dFuncOptions = MaxPool2dOptions;
using MaxPool3dFuncOptions = MaxPool3dOptions;

/// Options of max_unpool: as the module's, and output_size.
template <size_t D>
class MaxUnpoolFuncOptions : public Options<MaxUnpoolFuncOptions<D>> {
 public:
  MaxUnpoolFuncOptions(ExpandingArray<D> kernel_size)
      : kernel_size_(kernel_size), stride_(kernel_size) {}

  /// Sizes of the window.
  AMBIT_OPTION(MaxUnpoolFuncOptions, ExpandingArray<D>, kernel_size);
  /// Step between windows. Default: kernel_size.
  AMBIT_OPTION(MaxUnpoolFuncOptions, ExpandingArray<D>, stride);
  /// Padding of the MaxPool.
  AMBIT_OPTION(MaxUnpoolFuncOptions, ExpandingArray<D>, padding) = 0;
  /// Spatial sizes or all sizes of the output, less than a stride away from the default,
  /// which is computed from the input's.
  AMBIT_OPTION(MaxUnpoolFuncOptions, std::optional<std::vector<int64_t>>, output_size);
};
using MaxUnpool1dFuncOptions = MaxUnpoolFuncOptions<1>;
using MaxUnpool2dFuncOptions = MaxUnpoolFuncOptions<2>;
using MaxUnpool3dFuncOptions = MaxUnpoolFuncOptions<3>;

}  // namespace ambit::nn::functional
