// Activations and losses of single elements, named by their rows of function_table.h: one kernel
// each, and one for the gradient.
#pragma once

#include <ambit/function_table.h>
#include <ambit/tensor.h>

#include <optional>

namespace ambit {

/// Return relu(x), gelu(x) or gelu(x, "tanh"), kActivations; silu, mish, selu, logsigmoid,
/// hardsigmoid or hardswish of floats. Errors: those of the functions; Error for another one.
AMBIT_API Tensor activated(const Tensor& x, UnaryOp activation);
/// Return elu, celu, leaky_relu, softplus, smooth_l1 or huber of floats and a number. Errors:
/// Error, DTypeError. Gradient: x.
AMBIT_API Tensor activated(const Tensor& x, BinaryOp activation, double parameter);
/// Return leaky_relu(x) with a slope for each element, of a shape that broadcasts with x's.
/// Errors: those of binary ops. Gradient: both.
AMBIT_API Tensor leaky_relu_by(const Tensor& x, const Tensor& slope);
/// Return kernels::clamp_grad of g and x, with bounds rounded to x's dtype. Gradient: g.
AMBIT_API Tensor clamp_grad(const Tensor& g, const Tensor& x, const std::optional<Scalar>& min,
                            const std::optional<Scalar>& max, bool passes_nan);
/// Return the first half of x along dim times the sigmoid of the second. Requires floats of an even
/// size there. Gradient: x.
AMBIT_API Tensor gated_halves(const Tensor& x, int64_t dim);
/// Return the binary cross entropy of the logits x (floats) and targets in [0, 1], element by
/// element. Errors: those of binary ops. Gradient: both.
AMBIT_API Tensor logit_loss(const Tensor& x, const Tensor& target);

}  // namespace ambit
