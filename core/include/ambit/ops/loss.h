// Losses. Gradients: the input (and the target of mse_loss).
#pragma once

#include <ambit/tensor.h>

namespace ambit {

/// Negative log-likelihood: -weight[t] * input[n, t] of log-probabilities input [N,C] (or [C], or
/// [N,C,d1,...]) at class targets (int64, without C). mean divides by the sum of the weights used;
/// targets equal to ignore_index count nothing.
/// Errors: ShapeError, DTypeError, DeviceMismatchError, IndexError (a target outside [0, C)).
AMBIT_API Tensor nll_loss(const Tensor& input, const Tensor& target, const Tensor& weight = {},
                          Reduction reduction = Reduction::mean, int64_t ignore_index = -100);
/// nll_loss of log_softmax(input, 1), with targets as classes (int64) or as probabilities (input's
/// shape and dtype). label_smoothing in [0, 1] mixes the target with the uniform distribution.
AMBIT_API Tensor cross_entropy(const Tensor& input, const Tensor& target, const Tensor& weight = {},
                               Reduction reduction = Reduction::mean, int64_t ignore_index = -100,
                               double label_smoothing = 0);
/// (input - target)^2 of tensors of one shape. Errors: ShapeError, DTypeError, DeviceMismatchError.
AMBIT_API Tensor mse_loss(const Tensor& input, const Tensor& target,
                          Reduction reduction = Reduction::mean);

}  // namespace ambit
