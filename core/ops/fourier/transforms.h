// Operands and results of Fourier transforms.
#pragma once

#include <ambit/tensor.h>

namespace ambit {

/// Return self in the dtype of its transform: integers and bool become the default dtype. Errors:
/// DTypeError for float16 and bfloat16, Error for an undefined tensor.
Tensor as_transformable(const char* op, const Tensor& self);
/// Return x as pairs [..., 2]; the imaginary parts of real numbers are 0.
Tensor as_pairs(const Tensor& x);
/// Return complex numbers [...] in the memory of pairs [..., 2], which nothing else uses. Autograd
/// does not treat the result as a view.
Tensor as_complex(const Tensor& pairs);
/// Extend dim to size n with zeros.
Tensor extended(const Tensor& x, int64_t dim, int64_t n);

}  // namespace ambit
