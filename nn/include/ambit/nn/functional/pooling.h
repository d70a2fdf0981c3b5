// Pooling functions with the option classes of the modules. Errors and gradients, unless stated
// otherwise: those of the functions of ops/pool.h, which they call. Input [N,C,L], [N,C,H,W] or
// [N,C,D,H,W], or without N.
#pragma once

#include <ambit/nn/pooling_options.h>
#include <ambit/ops/pool.h>

#include <array>
#include <optional>
#include <tuple>

namespace ambit::nn::functional {

/// ambit::max_pool1d to 3d; the default stride is kernel_size (windows do not overlap).
inline Tensor max_pool1d(const Tensor& input, const MaxPool1dFuncOptions& options) {
  return ambit::max_pool1d(input, options.params());
}
inline Tensor max_pool1d(const Tensor& input, ExpandingArray<1> kernel_size,
                         std::optional<ExpandingArray<1>> stride = {},
                         ExpandingArray<1> padding = 0, ExpandingArray<1> dilation = 1,
                         bool ceil_mode = false) {
  return max_pool1d(input, MaxPool1dOptions(kernel_size)
                               .stride(stride.value_or(kernel_size))
                               .padding(padding)
                               .dilation(dilation)
                               .ceil_mode(ceil_mode));
}
inline Tensor max_pool2d(const Tensor& input, const MaxPool2dFuncOptions& options) {
  return ambit::max_pool2d(input, options.params());
}
inline Tensor max_pool2d(const Tensor& input, ExpandingArray<2> kernel_size,
                         std::optional<ExpandingArray<2>> stride = {},
                         ExpandingArray<2> padding = 0, ExpandingArray<2> dilation = 1,
                         bool ceil_mode = false) {
  return max_pool2d(input, MaxPool2dOptions(kernel_size)
                               .stride(stride.value_or(kernel_size))
                               .padding(padding)
                               .dilation(dilation)
                               .ceil_mode(ceil_mode));
}
inline Tensor max_pool3d(const Tensor& input, const MaxPool3dFuncOptions& options) {
  return ambit::max_pool3d(input, options.params());
}
inline Tensor max_pool3d(const Tensor& input, ExpandingArray<3> kernel_size,
                         std::optional<ExpandingArray<3>> stride = {},
                         ExpandingArray<3> padding = 0, ExpandingArray<3> dilation = 1,
                         bool ceil_mode = false) {
  return max_pool3d(input, MaxPool3dOptions(kernel_size)
                               .stride(stride.value_or(kernel_size))
                               .padding(padding)
                               .dilation(dilation)
                               .ceil_mode(ceil_mode));
}
/// Also return the position of each maximum in its image, int64: l, h * W + w or (d * H + h) * W +
/// w.
inline std::tuple<Tensor, Tensor> max_pool1d_with_indices(const Tensor& input,
                                                          const MaxPool1dFuncOptions& options) {
  return ambit::max_pool1d_with_indices(input, options.params());
}
inline std::tuple<Tensor, Tensor> max_pool2d_with_indices(const Tensor& input,
                                                          const MaxPool2dFuncOptions& options) {
  return ambit::max_pool2d_with_indices(input, options.params());
}
inline std::tuple<Tensor, Tensor> max_pool3d_with_indices(const Tensor& input,
                                                          const MaxPool3dFuncOptions& options) {
  return ambit::max_pool3d_with_indices(input, options.params());
}
/// ambit::avg_pool1d to 3d; the default stride is kernel_size (windows do not overlap).
inline Tensor avg_pool1d(const Tensor& input, const AvgPool1dFuncOptions& options) {
  return ambit::avg_pool1d(input, *options.kernel_size(), *options.stride(), *options.padding(),
                           options.ceil_mode(), options.count_include_pad());
}
inline Tensor avg_pool1d(const Tensor& input, ExpandingArray<1> kernel_size,
                         std::optional<ExpandingArray<1>> stride = {},
                         ExpandingArray<1> padding = 0, bool ceil_mode = false,
                         bool count_include_pad = true) {
  return avg_pool1d(input, AvgPool1dOptions(kernel_size)
                               .stride(stride.value_or(kernel_size))
                               .padding(padding)
                               .ceil_mode(ceil_mode)
                               .count_include_pad(count_include_pad));
}
inline Tensor avg_pool2d(const Tensor& input, const AvgPool2dFuncOptions& options) {
  return ambit::avg_pool2d(input, *options.kernel_size(), *options.stride(), *options.padding(),
                           options.ceil_mode(), options.count_include_pad(),
                           options.divisor_override());
}
inline Tensor avg_pool2d(const Tensor& input, ExpandingArray<2> kernel_size,
                         std::optional<ExpandingArray<2>> stride = {},
                         ExpandingArray<2> padding = 0, bool ceil_mode = false,
                         bool count_include_pad = true,
                         std::optional<int64_t> divisor_override = {}) {
  return avg_pool2d(input, AvgPool2dOptions(kernel_size)
                               .stride(stride.value_or(kernel_size))
                               .padding(padding)
                               .ceil_mode(ceil_mode)
                               .count_include_pad(count_include_pad)
                               .divisor_override(divisor_override));
}
inline Tensor avg_pool3d(const Tensor& input, const AvgPool3dFuncOptions& options) {
  return ambit::avg_pool3d(input, *options.kernel_size(), *options.stride(), *options.padding(),
                           options.ceil_mode(), options.count_include_pad(),
                           options.divisor_override());
}
inline Tensor avg_pool3d(const Tensor& input, ExpandingArray<3> kernel_size,
                         std::optional<ExpandingArray<3>> stride = {},
                         ExpandingArray<3> padding = 0, bool ceil_mode = false,
                         bool count_include_pad = true,
                         std::optional<int64_t> divisor_override = {}) {
  return avg_pool3d(input, AvgPool3dOptions(kernel_size)
                               .stride(stride.value_or(kernel_size))
                               .padding(padding)
                               .ceil_mode(ceil_mode)
                               .count_include_pad(count_include_pad)
                               .divisor_override(divisor_override));
}

namespace detail {
/// Return the sizes, -1 for nullopt.
template <size_t D>
std::array<int64_t, D> sizes(const ExpandingArray<D>& asked) {
  return *asked;
}
template <size_t D>
std::array<int64_t, D> sizes(const ExpandingArray<D, std::optional<int64_t>>& asked) {
  std::array<int64_t, D> result;
  for (size_t i = 0; i < D; ++i) result[i] = asked[i].value_or(-1);
  return result;
}
}  // namespace detail

/// ambit::adaptive_avg_pool1d to 3d.
inline Tensor adaptive_avg_pool1d(const Tensor& input,
                                  const AdaptiveAvgPool1dFuncOptions& options) {
  return ambit::adaptive_avg_pool1d(input, detail::sizes(options.output_size()));
}
inline Tensor adaptive_avg_pool1d(const Tensor& input, IntArrayRef output_size) {
  return ambit::adaptive_avg_pool1d(input, output_size);
}
inline Tensor adaptive_avg_pool2d(const Tensor& input,
                                  const AdaptiveAvgPool2dFuncOptions& options) {
  return ambit::adaptive_avg_pool2d(input, detail::sizes(options.output_size()));
}
inline Tensor adaptive_avg_pool2d(const Tensor& input, IntArrayRef output_size) {
  return ambit::adaptive_avg_pool2d(input, output_size);
}
inline Tensor adaptive_avg_pool3d(const Tensor& input,
                                  const AdaptiveAvgPool3dFuncOptions& options) {
  return ambit::adaptive_avg_pool3d(input, detail::sizes(options.output_size()));
}
inline Tensor adaptive_avg_pool3d(const Tensor& input, IntArrayRef output_size) {
  return ambit::adaptive_avg_pool3d(input, output_size);
}
/// ambit::adaptive_max_pool1d to 3d, without the positions.
inline Tensor adaptive_max_pool1d(const Tensor& input,
                                  const AdaptiveMaxPool1dFuncOptions& options) {
  return std::get<0>(ambit::adaptive_max_pool1d(input, detail::sizes(options.output_size())));
}
inline Tensor adaptive_max_pool2d(const Tensor& input,
                                  const AdaptiveMaxPool2dFuncOptions& options) {
  return std::get<0>(ambit::adaptive_max_pool2d(input, detail::sizes(options.output_size())));
}
inline Tensor adaptive_max_pool3d(const Tensor& input,
                                  const AdaptiveMaxPool3dFuncOptions& options) {
  return std::get<0>(ambit::adaptive_max_pool3d(input, detail::sizes(options.output_size())));
}
/// Return the maxima and their positions.
inline std::tuple<Tensor, Tensor> adaptive_max_pool1d_with_indices(
    const Tensor& input, const AdaptiveMaxPool1dFuncOptions& options) {
  return ambit::adaptive_max_pool1d(input, detail::sizes(options.output_size()));
}
inline std::tuple<Tensor, Tensor> adaptive_max_pool2d_with_indices(
    const Tensor& input, const AdaptiveMaxPool2dFuncOptions& options) {
  return ambit::adaptive_max_pool2d(input, detail::sizes(options.output_size()));
}
inline std::tuple<Tensor, Tensor> adaptive_max_pool3d_with_indices(
    const Tensor& input, const AdaptiveMaxPool3dFuncOptions& options) {
  return ambit::adaptive_max_pool3d(input, detail::sizes(options.output_size()));
}

/// Write maxima to the positions that max_pool1d_with_indices to 3d returned, and zeros elsewhere.
/// Spatial sizes: (P - 1) stride - 2 padding + kernel_size, or options.output_size(). Errors: also
/// ShapeError for an output_size that differs from that by a stride or more.
AMBIT_API Tensor max_unpool1d(const Tensor& input, const Tensor& indices,
                              const MaxUnpool1dFuncOptions& options);
AMBIT_API Tensor max_unpool2d(const Tensor& input, const Tensor& indices,
                              const MaxUnpool2dFuncOptions& options);
AMBIT_API Tensor max_unpool3d(const Tensor& input, const Tensor& indices,
                              const MaxUnpool3dFuncOptions& options);

/// ambit::fractional_max_pool2d and 3d. Windows are random unless _random_samples is given; sizes
/// are output_size or floor(output_ratio * size). Errors: also Error unless output_size or
/// output_ratio is given.
AMBIT_API Tensor fractional_max_pool2d(const Tensor& input,
                                       const FractionalMaxPool2dFuncOptions& options);
AMBIT_API Tensor fractional_max_pool3d(const Tensor& input,
                                       const FractionalMaxPool3dFuncOptions& options);
/// Return the maxima and their positions.
AMBIT_API std::tuple<Tensor, Tensor> fractional_max_pool2d_with_indices(
    const Tensor& input, const FractionalMaxPool2dFuncOptions& options);
AMBIT_API std::tuple<Tensor, Tensor> fractional_max_pool3d_with_indices(
    const Tensor& input, const FractionalMaxPool3dFuncOptions& options);

/// Return the p-th root of the sum of p-th powers in each window, p = options.norm_type():
///   y = (kernel elements * avg_pool(input^p))^(1/p)
/// NaN if the root is of a negative number. Gradient: input; 0 where the sum is 0. Errors: those of
/// avg_pool2d.
AMBIT_API Tensor lp_pool1d(const Tensor& input, const LPPool1dFuncOptions& options);
AMBIT_API Tensor lp_pool2d(const Tensor& input, const LPPool2dFuncOptions& options);
AMBIT_API Tensor lp_pool3d(const Tensor& input, const LPPool3dFuncOptions& options);

}  // namespace ambit::nn::functional
