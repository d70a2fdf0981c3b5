// Functions with formulas of their own for complex numbers.
#pragma once

#include <ambit/tensor.h>

namespace ambit {

/// angle() and sgn() of complex numbers, with gradients.
/// @{
Tensor complex_angle(const Tensor& self);
Tensor complex_sgn(const Tensor& self);
/// @}

}  // namespace ambit
