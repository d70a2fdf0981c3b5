// The real and the imaginary parts of complex numbers.
#pragma once

#include <ambit/tensor.h>

namespace ambit {

/// Return an alias of the real parts, the imaginary parts or the bits (complex64 as int64) of t.
/// Aliases share t's memory and are not part of the autograd graph.
/// @{
Tensor re(const Tensor& t);
Tensor im(const Tensor& t);
Tensor bits(const Tensor& t);
/// @}

/// Return an alias [..., 2] with both parts of each element.
Tensor pairs(const Tensor& t);

/// Return the complex numbers i x of real x. Gradient: x.
Tensor imaginary(const Tensor& x);

}  // namespace ambit
