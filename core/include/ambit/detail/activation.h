// Activations and elementwise losses, named by their rows of function_table.h: one kernel for the
// function and one for its gradient.
#pragma once

#include <ambit/function_table.h>
#include <ambit/tensor.h>

#include <optional>

namespace ambit {

/// Apply relu, gelu or gelu(x, "tanh") (kActivations), or for floats silu, mish, selu, logsigmoid,
/// hardsigmoid or hardswish. Errors: those of the functions; Error for any other function.
AMBIT_API Tensor activated(const Tensor& x, UnaryOp activation);
/// Apply elu, celu, leaky_relu, softplus, smooth_l1 or huber with a parameter to floats. Errors:
/// Error, DTypeError. Gradient: x.
AMBIT_API Tensor activated(const Tensor& x, BinaryOp activation, double parameter);
/// Apply leaky_relu with a tensor of negative slopes that broadcasts with x. Errors: those of
/// binary ops. Gradient: both.
AMBIT_API Tensor leaky_relu_by(const Tensor& x, const Tensor& slope);
/// Return kernels::clamp_grad of g and x, with bounds rounded to x's dtype. Gradient: g.
AMBIT_API Tensor clamp_grad(const Tensor& g, const Tensor& x, const std::optional<Scalar>& min,
                            const std::optional<Scalar>& max, bool passes_nan);
/// Return the first half of x along dim times the sigmoid of the second half. x is floating point,
/// with an even size along dim. Gradient: x.
AMBIT_API Tensor gated_halves(const Tensor& x, int64_t dim);
/// Return the elementwise binary cross entropy of the logits x (floats) and targets in [0, 1].
/// Errors: those of binary ops. Gradient: both.
AMBIT_API Tensor logit_loss(const Tensor& x, const Tensor& target);

}  // namespace ambit
