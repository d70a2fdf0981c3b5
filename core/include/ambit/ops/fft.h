// Functions for the results of discrete Fourier transforms: their frequencies and their order. They
// are real; ambit has no complex tensors yet. Namespace fft has libtorch's short names.
#pragma once

#include <ambit/tensor.h>
#include <ambit/tensor_options.h>

namespace ambit {

/// Return the frequencies [n] of a transform of n samples at distance d: {0, 1, ..., (n - 1) / 2,
/// -(n / 2), ..., -1} / (n d). Floating point, by default the default dtype. No gradient. Errors:
/// Error for n < 0; DTypeError for integers and bool. Source: torch.fft.fftfreq.
/// @{
AMBIT_API Tensor fft_fftfreq(int64_t n, const TensorOptions& options = {});
AMBIT_API Tensor fft_fftfreq(int64_t n, double d, const TensorOptions& options = {});
/// @}
/// Return the frequencies [n / 2 + 1] of the transform of n real numbers, none of them negative:
/// {0, 1, ..., n / 2} / (n d). Otherwise as fft_fftfreq. Source: torch.fft.rfftfreq.
/// @{
AMBIT_API Tensor fft_rfftfreq(int64_t n, const TensorOptions& options = {});
AMBIT_API Tensor fft_rfftfreq(int64_t n, double d, const TensorOptions& options = {});
/// @}
/// Move frequency 0 to the middle of each dim, by default of all dims: roll by size / 2. Any dtype.
/// Gradient: self. Errors: IndexError; ShapeError if there are no dims. Source: torch.fft.fftshift.
AMBIT_API Tensor fft_fftshift(const Tensor& self, OptionalIntArrayRef dim = {});
/// Undo fft_fftshift: roll by (size + 1) / 2. Source: torch.fft.ifftshift.
AMBIT_API Tensor fft_ifftshift(const Tensor& self, OptionalIntArrayRef dim = {});

/// libtorch's namespace fft: the functions above under their short names.
namespace fft {

/// As the function that it calls.
/// @{
inline Tensor fftfreq(int64_t n, const TensorOptions& options = {}) {
  return fft_fftfreq(n, options);
}
inline Tensor fftfreq(int64_t n, double d, const TensorOptions& options = {}) {
  return fft_fftfreq(n, d, options);
}
inline Tensor rfftfreq(int64_t n, const TensorOptions& options = {}) {
  return fft_rfftfreq(n, options);
}
inline Tensor rfftfreq(int64_t n, double d, const TensorOptions& options = {}) {
  return fft_rfftfreq(n, d, options);
}
inline Tensor fftshift(const Tensor& x, OptionalIntArrayRef dim = {}) {
  return fft_fftshift(x, dim);
}
inline Tensor ifftshift(const Tensor& x, OptionalIntArrayRef dim = {}) {
  return fft_ifftshift(x, dim);
}
/// @}

}  // namespace fft
}  // namespace ambit
