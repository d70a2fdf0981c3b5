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

/// Return twice a stride or an offset, modulo 2^64. The result overflows only for the stride of a
/// dim with fewer than two elements, or for an empty tensor, which no access uses.
/// @{
int64_t doubled(int64_t elements);
Dims doubled(IntArrayRef strides);
/// @}

/// Return the complex numbers i x of real x. Gradient: x.
Tensor imaginary(const Tensor& x);

}  // namespace ambit
