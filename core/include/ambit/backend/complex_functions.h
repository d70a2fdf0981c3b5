// For backends with kernels of complex numbers: the functions of single numbers, and the functions
// that run unary and binary ops by kernels of real numbers, for all that a kernel does not compute
// itself.
#pragma once

#include <ambit/backend/kernels.h>

#include <complex>

namespace ambit {

/// A function of one complex number.
using ComplexMap = std::complex<double> (*)(const std::complex<double>&);
/// A function of two complex numbers.
using ComplexMap2 = std::complex<double> (*)(const std::complex<double>&,
                                             const std::complex<double>&);

/// Return a function with the special values of C99, Annex G; null for those that are computed by
/// kernels of real numbers, such as neg, and those that complex numbers do not have.
/// @{
AMBIT_API ComplexMap complex_map(UnaryOp op);
AMBIT_API ComplexMap2 complex_map(BinaryOp op);
/// @}

namespace by_parts {

/// As kernels::unary and kernels::binary, for complex operands on any device: these run if a
/// backend did not register a kernel for complex dtypes.
/// @{
AMBIT_API void unary(Tensor& y, const Tensor& x, const UnaryOp& op);
AMBIT_API void binary(Tensor& y, const Tensor& a, const Tensor& b, const BinaryOp& op);
/// @}

}  // namespace by_parts
}  // namespace ambit
