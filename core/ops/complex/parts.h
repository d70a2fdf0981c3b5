// The real and the imaginary parts of complex numbers.
#pragma once

#include <ambit/tensor.h>

namespace ambit {

/// Return aliases, outside of any graph, of the parts of complex t, or of their bits: complex64 as
/// int64.
/// @{
Tensor re(const Tensor& t);
Tensor im(const Tensor& t);
Tensor bits(const Tensor& t);
/// @}

/// Return an alias [..., 2] of both parts, outside of any graph.
Tensor pairs(const Tensor& t);

/// Return the complex numbers i x of real x. Gradient: x.
Tensor imaginary(const Tensor& x);

}  // namespace ambit
