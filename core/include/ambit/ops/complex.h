// Complex numbers: views of their parts, and tensors made of parts. complex64 has parts of float32,
// complex128 of float64. Gradients follow PyTorch's convention: the gradient of a real result L
// with respect to z = x + i y is dL/dx + i dL/dy. Conjugation happens at once: there is no lazy
// conjugate. std::complex is only declared here: include <complex> to use these templates.
#pragma once

#include <ambit/detail/complex_tensor.h>
#include <ambit/ops/elementwise.h>
#include <ambit/tensor.h>

#include <initializer_list>
#include <vector>

namespace ambit {

/// View complex numbers [...] as pairs [..., 2] of their real and imaginary parts, float32 or
/// float64. Writes through the view change self. Errors: DTypeError for real numbers. Gradient:
/// self. Source: torch.view_as_real.
AMBIT_API Tensor view_as_real(const Tensor& self);
/// View pairs [..., 2] of float32 or float64 as complex numbers [...]: the inverse of view_as_real.
/// The last stride must be 1; the other strides and the offset must be even. Errors: DTypeError for
/// other dtypes; ShapeError. Gradient: self. Source: torch.view_as_complex.
AMBIT_API Tensor view_as_complex(const Tensor& self);
/// View the real parts; real numbers are returned unchanged. Gradient: self.
AMBIT_API Tensor real(const Tensor& self);
/// View the imaginary parts. Errors: DTypeError for real numbers. Gradient: self.
AMBIT_API Tensor imag(const Tensor& self);
/// Return the complex numbers real + i imag, of two tensors of float32 or of float64 that
/// broadcast. Errors: DTypeError for other or different dtypes; ShapeError; DeviceMismatchError.
/// Gradient: both. Source: torch.complex.
AMBIT_API Tensor complex(const Tensor& real, const Tensor& imag);
/// Return the complex numbers abs (cos(angle) + i sin(angle)), of two tensors of float32 or of
/// float64 that broadcast. Errors: those of complex. Gradient: both. Source: torch.polar.
AMBIT_API Tensor polar(const Tensor& abs, const Tensor& angle);
/// Return the complex conjugates in new memory; real numbers are returned unchanged. Gradient:
/// self.
/// @{
AMBIT_API Tensor conj(const Tensor& self);
AMBIT_API Tensor conj_physical(const Tensor& self);
AMBIT_API const Tensor& conj_physical_(const Tensor& self);
/// @}
/// Return self: there are no lazy conjugates and negatives.
/// @{
AMBIT_API Tensor resolve_conj(const Tensor& self);
AMBIT_API Tensor resolve_neg(const Tensor& self);
/// @}
/// Return true for a tensor of complex64 or complex128. Errors: Error for an undefined tensor.
inline bool is_complex(const Tensor& self) { return self.is_complex(); }

/// Return a tensor of these numbers, shape [n]; default dtype: complex64 for std::complex<float>,
/// complex128 for std::complex<double>. Errors: DTypeError for a dtype that is not complex.
/// @{
template <class T>
Tensor tensor(const std::vector<std::complex<T>>& numbers, const TensorOptions& options = {}) {
  const std::vector<detail::ComplexDouble<T>> wide(numbers.begin(), numbers.end());
  const TensorOptions dtype =
      options.has_dtype() ? options : options.dtype(dtype_of<std::complex<T>>);
  return detail::complex_tensor(static_cast<int64_t>(wide.size()), wide.data(), dtype);
}
template <class T>
Tensor tensor(std::initializer_list<std::complex<T>> numbers, const TensorOptions& options = {}) {
  return tensor(std::vector<std::complex<T>>(numbers), options);
}
/// @}
/// Return a 0-dim tensor; dtype and errors as for a list.
template <class T>
Tensor tensor(std::complex<T> number, const TensorOptions& options = {}) {
  return tensor(std::vector<std::complex<T>>{number}, options).view(IntArrayRef());
}
/// Return a tensor filled with a complex number; dtype and errors as for tensor().
template <class T>
Tensor full(IntArrayRef sizes, std::complex<T> value, const TensorOptions& options = {}) {
  return tensor(value, options).expand(sizes).clone();
}

// Operators of a tensor and a complex number, which becomes a 0-dim tensor.
/// @cond
#define AMBIT_COMPLEX_OPERATOR(sign, name)                                  \
  template <class T>                                                        \
  Tensor operator sign(const Tensor& a, std::complex<T> b) {                \
    return name(a, detail::complex_number(a, detail::ComplexDouble<T>(b))); \
  }                                                                         \
  template <class T>                                                        \
  Tensor operator sign(std::complex<T> a, const Tensor& b) {                \
    return name(detail::complex_number(b, detail::ComplexDouble<T>(a)), b); \
  }
AMBIT_COMPLEX_OPERATOR(+, add)
AMBIT_COMPLEX_OPERATOR(-, sub)
AMBIT_COMPLEX_OPERATOR(*, mul)
AMBIT_COMPLEX_OPERATOR(/, div)
AMBIT_COMPLEX_OPERATOR(==, eq)
AMBIT_COMPLEX_OPERATOR(!=, ne)
#undef AMBIT_COMPLEX_OPERATOR
/// @endcond

}  // namespace ambit
