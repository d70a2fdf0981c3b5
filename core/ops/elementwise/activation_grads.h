// Gradients of activations, each one kernel instead of three or four, and differentiable; and
// functions for ops that apply an activation to a product.
#pragma once

#include <ambit/function_table.h>
#include <ambit/tensor.h>

namespace ambit {

Tensor relu_grad(const Tensor& g, const Tensor& y);     ///< g where y > 0, else 0
Tensor sigmoid_grad(const Tensor& g, const Tensor& y);  ///< g y (1 - y)
Tensor tanh_grad(const Tensor& g, const Tensor& y);     ///< g (1 - y^2)
Tensor gelu_grad(const Tensor& g, const Tensor& x);     ///< g (Phi(x) + x phi(x))
/// Return g times the derivative of gelu(x, "tanh").
Tensor gelu_tanh_grad(const Tensor& g, const Tensor& x);

/// Throw Error unless the function is one of kActivations.
void expect_activation(const char* op, UnaryOp function);
/// Record `out` as relu of `sum`, which is in the graph but has no memory of its own, since relu's
/// gradient only needs the result.
Tensor record_relu(const Tensor& out, const Tensor& sum);

}  // namespace ambit
