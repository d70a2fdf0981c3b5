// Normalisation: softmax, batch, layer, RMS and group norm. Errors of all: DTypeError unless
// floating point; Error for an undefined input.
#pragma once

#include <ambit/params.h>
#include <ambit/tensor.h>

#include <optional>
#include <tuple>

namespace ambit {

/// Compute softmax along dim.
///   out = exp(x - m) / sum over dim of exp(x - m), with m the maximum along dim to avoid overflow
/// Any shape; a 0-dim x gives 1. dtype: convert self first. Errors: IndexError. Gradient: self.
AMBIT_API Tensor softmax(const Tensor& self, int64_t dim, std::optional<DType> dtype = {});
/// Compute the logarithm of softmax, x - m - log(sum over dim of exp(x - m)), without underflow.
/// Shapes, errors and gradient as softmax.
AMBIT_API Tensor log_softmax(const Tensor& self, int64_t dim, std::optional<DType> dtype = {});

/// Normalise each channel (dim 1).
///   out = (input - mean) / sqrt(var + eps) * weight + bias
///   training: mean and biased variance over all other dims, n values per channel, and
///     running_mean = (1 - momentum) running_mean + momentum mean
///     running_var  = (1 - momentum) running_var  + momentum var n / (n - 1), if defined
///   else: mean = running_mean, var = running_var
/// input [N,C,...] -> out of its shape; weight, bias, running_mean, running_var [C] of its dtype,
/// or all float32 with a reduced floating-point input. Each may be undefined (1, 0, not updated),
/// the running ones only in training, which updates them in place. An empty input changes nothing.
/// One value per channel in training gives the bias, and running_var NaN. Errors: ShapeError,
/// DTypeError, DeviceMismatchError; Error without running statistics in evaluation. Gradient:
/// input, weight, bias. Source: Ioffe & Szegedy 2015, arXiv:1502.03167.
AMBIT_API Tensor batch_norm(const Tensor& input, const Tensor& weight, const Tensor& bias,
                            const Tensor& running_mean, const Tensor& running_var,
                            const BatchNormParams& params);

/// Normalise over the last dims of input, whose sizes are normalized_shape:
///   (x - mean) / sqrt(var + eps) * weight + bias
/// with mean and biased variance of each slice. input [..., *normalized_shape]; weight and bias
/// [*normalized_shape], each may be undefined -> input's shape; floating point, one dtype. Errors:
/// ShapeError, DTypeError, DeviceMismatchError. Gradient: input, weight, bias. Source: Ba, Kiros &
/// Hinton 2016, arXiv:1607.06450.
AMBIT_API Tensor layer_norm(const Tensor& input, IntArrayRef normalized_shape,
                            const Tensor& weight = {}, const Tensor& bias = {}, double eps = 1e-5);

/// As layer_norm(), with the root mean square instead of mean and variance:
///   x / sqrt(mean(x^2) + eps) * weight
/// Default eps: the dtype's epsilon, float32's for reduced floating-point types. Errors, shapes and
/// gradient as above.
/// Source: Zhang & Sennrich 2019, arXiv:1910.07467; torch.nn.functional.rms_norm.
AMBIT_API Tensor rms_norm(const Tensor& input, IntArrayRef normalized_shape,
                          const Tensor& weight = {}, std::optional<double> eps = {});

/// Normalise num_groups groups of C / num_groups consecutive channels of each sample of input
/// [N,C,...], each by its own mean and biased variance:
///   (x - mean) / sqrt(var + eps) * weight + bias, weight and bias [C], each may be undefined
/// Errors: ShapeError, also if num_groups does not divide C; DTypeError, DeviceMismatchError.
/// Gradient: input, weight, bias. Source: Wu & He 2018, arXiv:1803.08494.
AMBIT_API Tensor group_norm(const Tensor& input, int64_t num_groups, const Tensor& weight = {},
                            const Tensor& bias = {}, double eps = 1e-5);

/// The three norms with the statistics that they divide by: {result, mean, 1 / sqrt(var + eps)}.
/// Layer norm has one for each slice, [..., 1, .., 1]; batch norm one for each channel, [C], empty
/// in evaluation; group norm one for each group, [N, group], of an input with the elements of
/// [N, C, HxW]. Errors and gradient of the results: as above; the statistics have no gradient.
/// @{
AMBIT_API std::tuple<Tensor, Tensor, Tensor> native_layer_norm(const Tensor& input,
                                                               IntArrayRef normalized_shape,
                                                               const Tensor& weight,
                                                               const Tensor& bias, double eps);
AMBIT_API std::tuple<Tensor, Tensor, Tensor> native_batch_norm(
    const Tensor& input, const Tensor& weight, const Tensor& bias, const Tensor& running_mean,
    const Tensor& running_var, bool training, double momentum, double eps);
AMBIT_API std::tuple<Tensor, Tensor, Tensor> native_group_norm(const Tensor& input,
                                                               const Tensor& weight,
                                                               const Tensor& bias, int64_t N,
                                                               int64_t C, int64_t HxW,
                                                               int64_t group, double eps);
/// @}

}  // namespace ambit
