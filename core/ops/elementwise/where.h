// The gradient of ops that select elements by a mask.
#pragma once

#include <ambit/tensor.h>

namespace ambit {

/// Return g where mask (bool, broadcasting to g's sizes) is `kept`, 0 elsewhere. Gradient: g.
Tensor grad_where(const Tensor& g, const Tensor& mask, bool kept);

}  // namespace ambit
