// Gradient clipping for one rank and for several. Private to nn.
#pragma once

#include <ambit/tensor.h>

#include <vector>

namespace ambit::nn {

/// Return the defined gradients, detached.
std::vector<Tensor> gradients(TensorList parameters);
/// Return the norm of one or more gradients, as defined by clip_grad_norm_, on the first's device.
Tensor norm_of(const std::vector<Tensor>& grads, double norm_type);
/// Scale gradients whose total norm is `norm` to a norm of at most max_norm.
void clip_to(double max_norm, const Tensor& norm, const std::vector<Tensor>& grads);

}  // namespace ambit::nn
