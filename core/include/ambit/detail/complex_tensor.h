// Complex numbers of the host as tensors, for the templates of ops/complex.h.
#pragma once

#include <ambit/tensor.h>

#include <type_traits>

namespace ambit::detail {

/// std::complex<double>, as a type that depends on T: compilers check the uses of other types while
/// std::complex is incomplete.
template <class T>
using ComplexDouble = std::complex<std::conditional_t<std::is_void_v<T>, T, double>>;

/// Return the numbers in row-major order.
AMBIT_API Tensor complex_tensor(IntArrayRef sizes, const std::complex<double>* numbers,
                                const TensorOptions& options);
/// Return a 0-dim tensor that promotes with self as a number does.
AMBIT_API Tensor complex_number(const Tensor& self, std::complex<double> number);

}  // namespace ambit::detail
