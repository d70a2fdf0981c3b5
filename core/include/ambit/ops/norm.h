// Normalisation: softmax, batch, layer, RMS and group norm. Errors of all: DTypeError for what is
// not floating point; Error for an undefined input.
#pragma once

#include <ambit/params.h>
#include <ambit/tensor.h>

#include <optional>

namespace ambit {

/// Turn the numbers along dim into probabilities.
///   out = exp(x - m) / sum over dim of exp(x - m), m the maximum along dim: safe from overflow
/// Any shape, which out has too; a 0-dim x gives 1. dtype converts self first. Errors: IndexError.
/// Gradient: self.
AMBIT_API Tensor softmax(const Tensor& self, int64_t dim, std::optional<DType> dtype = {});
/// Compute the logarithm of softmax: x - m - log(sum over dim of exp(x - m)). Shapes, errors and
/// gradient as softmax; no underflow to log(0).
AMBIT_API Tensor log_softmax(const Tensor& self, int64_t dim, std::optional<DType> dtype = {});

/// Normalise each channel (dim 1).
///   out = (input - mean) / sqrt(var + eps) * weight + bias
///   training: mean and biased variance over all other dims, n values a channel, and
///     running_mean = (1 - momentum) running_mean + momentum mean
///     running_var  = (1 - momentum) running_var  + momentum var n / (n - 1), where defined
///   else: mean = running_mean, var = running_var
/// input [N,C,...] -> out of its shape; weight, bias, running_mean, running_var [C] of its dtype,
/// or all of float32 beside 16 bits. Each may be undefined (1, 0, not kept), the running ones only
/// while training, which writes them in place. An input without elements changes nothing.
/// One value per channel while training becomes the bias, and its running_var NaN. Errors:
/// ShapeError, DTypeError, DeviceMismatchError; Error without running statistics in evaluation.
/// Gradient: input, weight, bias. Source: Ioffe & Szegedy 2015, arXiv:1502.03167.
AMBIT_API Tensor batch_norm(const Tensor& input, const Tensor& weight, const Tensor& bias,
                            const Tensor& running_mean, const Tensor& running_var,
                            const BatchNormParams& params);

/// Normalise the last dims of input, whose sizes are normalized_shape: each of their slices becomes
///   (x - mean) / sqrt(var + eps) * weight + bias
/// by its own mean and biased variance. input [..., *normalized_shape], weight and bias
/// [*normalized_shape], each may be undefined -> the shape of input; floating point, one dtype.
/// Errors: ShapeError, DTypeError, DeviceMismatchError. Gradient: input, weight, bias.
/// Source: Ba, Kiros & Hinton 2016, arXiv:1607.06450.
AMBIT_API Tensor layer_norm(const Tensor& input, IntArrayRef normalized_shape,
                            const Tensor& weight = {}, const Tensor& bias = {}, double eps = 1e-5);

/// The same by the root of the mean square instead of mean and variance:
///   x / sqrt(mean(x^2) + eps) * weight
/// eps left out: the dtype's epsilon, of 16 bits float32's. Errors, shapes and gradient as above.
/// Source: Zhang & Sennrich 2019, arXiv:1910.07467; torch.nn.functional.rms_norm.
AMBIT_API Tensor rms_norm(const Tensor& input, IntArrayRef normalized_shape,
                          const Tensor& weight = {}, std::optional<double> eps = {});

/// Normalise each group of channels of each sample of input [N,C,...]: num_groups of them, each of
/// C / num_groups channels in turn, by its own mean and biased variance:
///   (x - mean) / sqrt(var + eps) * weight + bias, weight and bias [C], each may be undefined
/// Errors: ShapeError, also where num_groups does not divide C; DTypeError, DeviceMismatchError.
/// Gradient: input, weight, bias. Source: Wu & He 2018, arXiv:1803.08494.
AMBIT_API Tensor group_norm(const Tensor& input, int64_t num_groups, const Tensor& weight = {},
                            const Tensor& bias = {}, double eps = 1e-5);

}  // namespace ambit
