// What the dispatcher needs of the functions of two operands.
#pragma once

#include <ambit/tensor.h>

namespace ambit {

/// nextafter(a, b) of two tensors of one dtype of 16 bits and one shape.
Tensor step_towards(const Tensor& a, const Tensor& b);

}  // namespace ambit
