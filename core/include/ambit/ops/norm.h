// Normalisation: softmax and batch norm, floating point.
#pragma once

#include <ambit/params.h>
#include <ambit/tensor.h>

namespace ambit {

/// exp(x) / sum(exp(x)) along dim, safe from overflow. Errors: IndexError, DTypeError. Gradient:
/// self.
AMBIT_API Tensor softmax(const Tensor& self, int64_t dim);
/// log(softmax(x)). Errors: IndexError, DTypeError. Gradient: self.
AMBIT_API Tensor log_softmax(const Tensor& self, int64_t dim);

/// Normalise each channel (dim 1) of input [N,C,...]: (x - mean) / sqrt(var + eps) * weight + bias.
/// training: by the batch's mean and biased variance, and the running ones, where defined, move by
/// momentum towards the batch's (unbiased variance); else by the running ones.
/// weight, bias, running_mean, running_var [C], each may be undefined (the running ones only while
/// training). Errors: ShapeError (also one value per channel while training), DTypeError,
/// DeviceMismatchError. Gradient: input, weight, bias.
/// Source: Ioffe & Szegedy 2015, arXiv:1502.03167.
AMBIT_API Tensor batch_norm(const Tensor& input, const Tensor& weight, const Tensor& bias,
                            const Tensor& running_mean, const Tensor& running_var,
                            const BatchNormParams& params);

}  // namespace ambit
