// Activations and losses of single elements, named by their rows of function_table.h: one kernel
// each, and one for the gradient.
#pragma once

#include <ambit/function_table.h>
#include <ambit/tensor.h>

namespace ambit {

/// Return relu(x), gelu(x) or gelu(x, "tanh"), kActivations; silu, mish, selu, logsigmoid,
/// hardsigmoid or hardswish of floats. Errors: those of the functions; Error for another one.
AMBIT_API Tensor activated(const Tensor& x, UnaryOp activation);
/// Return elu, celu, leaky_relu, softplus, smooth_l1 or huber of floats and a number. Errors:
/// Error, DTypeError. Gradient: x.
AMBIT_API Tensor activated(const Tensor& x, BinaryOp activation, double parameter);
/// Return the binary cross entropy of the logits x (floats) and targets in [0, 1], element by
/// element. Errors: those of binary ops. Gradient: both.
AMBIT_API Tensor logit_loss(const Tensor& x, const Tensor& target);

}  // namespace ambit
