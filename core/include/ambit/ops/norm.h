// Normalisation: softmax and batch norm. Errors of all: DTypeError for what is not floating point;
// Error for an undefined input.
#pragma once

#include <ambit/params.h>
#include <ambit/tensor.h>

namespace ambit {

/// Turn the numbers along dim into probabilities.
///   out = exp(x - m) / sum over dim of exp(x - m), m the maximum along dim: safe from overflow
/// Any shape, which out has too; a 0-dim x gives 1. Errors: IndexError. Gradient: self.
AMBIT_API Tensor softmax(const Tensor& self, int64_t dim);
/// Compute the logarithm of softmax: x - m - log(sum over dim of exp(x - m)). Shapes, errors and
/// gradient as softmax; no underflow to log(0).
AMBIT_API Tensor log_softmax(const Tensor& self, int64_t dim);

/// Normalise each channel (dim 1).
///   out = (input - mean) / sqrt(var + eps) * weight + bias
///   training: mean and biased variance over all other dims, n values a channel, and
///     running_mean = (1 - momentum) running_mean + momentum mean
///     running_var  = (1 - momentum) running_var  + momentum var n / (n - 1), where defined
///   else: mean = running_mean, var = running_var
/// input [N,C,...] -> out of its shape; weight, bias, running_mean, running_var [C] of its dtype.
/// Each may be undefined (1, 0, not kept), the running ones only while training, which writes them
/// in place. An input without elements changes nothing.
/// Errors: ShapeError (also for one value per channel while training), DTypeError,
/// DeviceMismatchError; Error without running statistics in evaluation.
/// Gradient: input, weight, bias. Source: Ioffe & Szegedy 2015, arXiv:1502.03167.
AMBIT_API Tensor batch_norm(const Tensor& input, const Tensor& weight, const Tensor& bias,
                            const Tensor& running_mean, const Tensor& running_var,
                            const BatchNormParams& params);

}  // namespace ambit
