// Functions whose formulas for complex numbers differ from those for real numbers.
#pragma once

#include <ambit/tensor.h>

namespace ambit {

/// angle() and sgn() of complex numbers, with gradients.
/// @{
Tensor complex_angle(const Tensor& self);
Tensor complex_sgn(const Tensor& self);
/// @}

}  // namespace ambit
