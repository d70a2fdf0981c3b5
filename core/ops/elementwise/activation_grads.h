// Gradients of activations as one kernel each, instead of three or four; differentiable themselves.
#pragma once

#include <ambit/tensor.h>

namespace ambit {

Tensor relu_grad(const Tensor& g, const Tensor& y);     ///< g where y > 0, else 0
Tensor sigmoid_grad(const Tensor& g, const Tensor& y);  ///< g y (1 - y)
Tensor tanh_grad(const Tensor& g, const Tensor& y);     ///< g (1 - y^2)
Tensor gelu_grad(const Tensor& g, const Tensor& x);     ///< g (Phi(x) + x phi(x))
/// g d gelu(x, "tanh") / dx
Tensor gelu_tanh_grad(const Tensor& g, const Tensor& x);

}  // namespace ambit
