// What clipping does, on one rank and over several. Private to nn.
#pragma once

#include <ambit/tensor.h>

#include <vector>

namespace ambit::nn {

/// Return the gradients that there are, outside the graph.
std::vector<Tensor> gradients(TensorList parameters);
/// Return the norm of one gradient or more, as clip_grad_norm_ defines it, on the first's device.
Tensor norm_of(const std::vector<Tensor>& grads, double norm_type);
/// Scale gradients that have this norm together to one of max_norm at most.
void clip_to(double max_norm, const Tensor& norm, const std::vector<Tensor>& grads);

}  // namespace ambit::nn
