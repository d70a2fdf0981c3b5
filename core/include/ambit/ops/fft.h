// Discrete Fourier transforms, along one dim or several dims; short-time transforms of signals; the
// frequencies of transforms and their order. Namespace fft has libtorch's short names.
#pragma once

#include <ambit/tensor.h>
#include <ambit/tensor_options.h>

#include <optional>
#include <string_view>

namespace ambit {

/// @name Transforms along one dim
/// self: complex or, for all functions, real; float32 gives complex64, float64 complex128, and
/// integers and bool are converted to the default dtype. n: the points of a line; a longer line is
/// cut and a shorter one extended with zeros; by default the size of dim. norm: the factor of the
/// result; "backward", the default, is 1 for fft, rfft and hfft, 1 / n for the inverse transforms;
/// "forward" is 1 / n for fft, rfft and hfft, 1 for the inverse transforms; "ortho" is 1 / sqrt(n)
/// for all. Errors of all: DTypeError for float16, bfloat16; IndexError for a dim out of range;
/// ShapeError for n < 1; Error for any other norm. Gradient: self.
/// @{
/// Return the transform along dim: out[k] = sum over j of self[j] exp(-2 pi i j k / n). Complex.
/// Source: torch.fft.fft.
AMBIT_API Tensor fft_fft(const Tensor& self, std::optional<int64_t> n = {}, int64_t dim = -1,
                         std::optional<std::string_view> norm = {});
/// Return the inverse of fft_fft: out[k] = 1 / n * sum over j of self[j] exp(2 pi i j k / n).
/// Complex. Source: torch.fft.ifft.
AMBIT_API Tensor fft_ifft(const Tensor& self, std::optional<int64_t> n = {}, int64_t dim = -1,
                          std::optional<std::string_view> norm = {});
/// Return elements 0 to n / 2 of fft_fft(self); the others are their conjugates. It costs half as
/// much as fft_fft. Complex. Errors: DTypeError for complex self. Source: torch.fft.rfft.
AMBIT_API Tensor fft_rfft(const Tensor& self, std::optional<int64_t> n = {}, int64_t dim = -1,
                          std::optional<std::string_view> norm = {});
/// Return the inverse of fft_rfft, which is real: n points, by default 2 (size of dim - 1), of
/// which self has elements 0 to n / 2. Imaginary parts of element 0 and of n / 2 for even n are
/// ignored. Source: torch.fft.irfft.
AMBIT_API Tensor fft_irfft(const Tensor& self, std::optional<int64_t> n = {}, int64_t dim = -1,
                           std::optional<std::string_view> norm = {});
/// Return the transform, which is real, of n points, by default 2 (size of dim - 1), of which self
/// has elements 0 to n / 2; the others are their conjugates. Source: torch.fft.hfft.
AMBIT_API Tensor fft_hfft(const Tensor& self, std::optional<int64_t> n = {}, int64_t dim = -1,
                          std::optional<std::string_view> norm = {});
/// Return the inverse of fft_hfft: elements 0 to n / 2 of fft_ifft(self). Complex. Errors:
/// DTypeError for complex self. Source: torch.fft.ihfft.
AMBIT_API Tensor fft_ihfft(const Tensor& self, std::optional<int64_t> n = {}, int64_t dim = -1,
                           std::optional<std::string_view> norm = {});
/// @}

/// Transforms along several dims: as the functions of one dim, along each dim of `dim`: by default
/// the last dims, as many as s has values, or all dims. s: the points along each dim, -1 for its
/// size. fft_rfftn and fft_ihfftn halve the last dim of `dim`; fft_irfftn and fft_hfftn have
/// s.back() points there, by default 2 (size - 1). The factors of norm are products over the dims.
/// Errors: those of one dim; Error for a dim given twice; ShapeError if s and dim have different
/// lengths, or s has more values than self dims, and, except for fft_fftn and fft_ifftn, without
/// dims. Source: torch.fft.fftn, ...
/// @{
AMBIT_API Tensor fft_fftn(const Tensor& self, OptionalIntArrayRef s = {},
                          OptionalIntArrayRef dim = {}, std::optional<std::string_view> norm = {});
AMBIT_API Tensor fft_ifftn(const Tensor& self, OptionalIntArrayRef s = {},
                           OptionalIntArrayRef dim = {}, std::optional<std::string_view> norm = {});
AMBIT_API Tensor fft_rfftn(const Tensor& self, OptionalIntArrayRef s = {},
                           OptionalIntArrayRef dim = {}, std::optional<std::string_view> norm = {});
AMBIT_API Tensor fft_irfftn(const Tensor& self, OptionalIntArrayRef s = {},
                            OptionalIntArrayRef dim = {},
                            std::optional<std::string_view> norm = {});
AMBIT_API Tensor fft_hfftn(const Tensor& self, OptionalIntArrayRef s = {},
                           OptionalIntArrayRef dim = {}, std::optional<std::string_view> norm = {});
AMBIT_API Tensor fft_ihfftn(const Tensor& self, OptionalIntArrayRef s = {},
                            OptionalIntArrayRef dim = {},
                            std::optional<std::string_view> norm = {});
/// @}

/// Transforms along two dims: as the functions for several dims, by default along the last two.
/// Source: torch.fft.fft2, ...
/// @{
AMBIT_API Tensor fft_fft2(const Tensor& self, OptionalIntArrayRef s = {},
                          IntArrayRef dim = {-2, -1}, std::optional<std::string_view> norm = {});
AMBIT_API Tensor fft_ifft2(const Tensor& self, OptionalIntArrayRef s = {},
                           IntArrayRef dim = {-2, -1}, std::optional<std::string_view> norm = {});
AMBIT_API Tensor fft_rfft2(const Tensor& self, OptionalIntArrayRef s = {},
                           IntArrayRef dim = {-2, -1}, std::optional<std::string_view> norm = {});
AMBIT_API Tensor fft_irfft2(const Tensor& self, OptionalIntArrayRef s = {},
                            IntArrayRef dim = {-2, -1}, std::optional<std::string_view> norm = {});
AMBIT_API Tensor fft_hfft2(const Tensor& self, OptionalIntArrayRef s = {},
                           IntArrayRef dim = {-2, -1}, std::optional<std::string_view> norm = {});
AMBIT_API Tensor fft_ihfft2(const Tensor& self, OptionalIntArrayRef s = {},
                            IntArrayRef dim = {-2, -1}, std::optional<std::string_view> norm = {});
/// @}

/// Return the short-time Fourier transform: the transforms of overlapping frames of a signal.
///   out[..., k, t] = sum over j of window[j] self[..., t hop_length + j] exp(-2 pi i j k / n_fft)
/// self [L] or [B,L], real or complex -> out [n_fft / 2 + 1, frames] or [B, ...]; n_fft rows unless
/// onesided. hop_length: the distance between frames, by default n_fft / 4. window [win_length]: by
/// default ones; win_length, by default n_fft: a shorter window is extended with zeros at both
/// ends. center: the signal is first extended by n_fft / 2 samples at both ends, as pad_mode says:
/// "reflect", "constant" (zeros), "replicate" or "circular". normalized: divide by sqrt(n_fft).
/// onesided: by default true for real numbers. return_complex false: pairs [..., 2] of real and
/// imaginary parts; it must be given if self and window are real. align_to_window, only without
/// center: frames start at the first sample of the window, not of its extension.
/// Errors: DTypeError for integers, float16 and bfloat16; ShapeError for other shapes or a signal
/// that is too short; Error for lengths below 1, win_length > n_fft, another pad_mode, onesided
/// with complex numbers, or missing return_complex; DeviceMismatchError. Gradient: self, window.
/// Source: torch.stft.
/// @{
AMBIT_API Tensor stft(const Tensor& self, int64_t n_fft, std::optional<int64_t> hop_length = {},
                      std::optional<int64_t> win_length = {},
                      const std::optional<Tensor>& window = {}, bool center = true,
                      std::string_view pad_mode = "reflect", bool normalized = false,
                      std::optional<bool> onesided = {}, std::optional<bool> return_complex = {},
                      std::optional<bool> align_to_window = {});
/// libtorch's first signature of stft: without center.
AMBIT_API Tensor stft(const Tensor& self, int64_t n_fft, std::optional<int64_t> hop_length,
                      std::optional<int64_t> win_length, const std::optional<Tensor>& window,
                      bool normalized, std::optional<bool> onesided = {},
                      std::optional<bool> return_complex = {},
                      std::optional<bool> align_to_window = {});
/// @}
/// Return the signal of a short-time Fourier transform, the inverse of stft: the sum of the frames
/// times the window, divided by the sum of the squares of the window. self [n_fft / 2 + 1, frames]
/// or [n_fft, frames], complex, or [B, ...] -> out [L] or [B,L], real unless return_complex.
/// length: L, for which the signal is cut or extended with zeros; other arguments as those of stft.
/// Errors: DTypeError for real self or, without return_complex, a complex window; ShapeError; Error
/// unless 0 < hop_length <= win_length <= n_fft; also for a sum of squares below 1e-11 and for
/// onesided with return_complex; DeviceMismatchError. Gradient: self, window. Source: torch.istft.
AMBIT_API Tensor istft(const Tensor& self, int64_t n_fft, std::optional<int64_t> hop_length = {},
                       std::optional<int64_t> win_length = {},
                       const std::optional<Tensor>& window = {}, bool center = true,
                       bool normalized = false, std::optional<bool> onesided = {},
                       std::optional<int64_t> length = {}, bool return_complex = false);

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

/// libtorch's namespace fft: each function calls the function of the same name with the prefix
/// fft_.
namespace fft {

/// As the function that it calls; hfftn and ihfftn transform the last two dims by default.
/// @{
inline Tensor fft(const Tensor& self, std::optional<int64_t> n = {}, int64_t dim = -1,
                  std::optional<std::string_view> norm = {}) {
  return fft_fft(self, n, dim, norm);
}
inline Tensor ifft(const Tensor& self, std::optional<int64_t> n = {}, int64_t dim = -1,
                   std::optional<std::string_view> norm = {}) {
  return fft_ifft(self, n, dim, norm);
}
inline Tensor rfft(const Tensor& self, std::optional<int64_t> n = {}, int64_t dim = -1,
                   std::optional<std::string_view> norm = {}) {
  return fft_rfft(self, n, dim, norm);
}
inline Tensor irfft(const Tensor& self, std::optional<int64_t> n = {}, int64_t dim = -1,
                    std::optional<std::string_view> norm = {}) {
  return fft_irfft(self, n, dim, norm);
}
inline Tensor hfft(const Tensor& self, std::optional<int64_t> n = {}, int64_t dim = -1,
                   std::optional<std::string_view> norm = {}) {
  return fft_hfft(self, n, dim, norm);
}
inline Tensor ihfft(const Tensor& self, std::optional<int64_t> n = {}, int64_t dim = -1,
                    std::optional<std::string_view> norm = {}) {
  return fft_ihfft(self, n, dim, norm);
}
inline Tensor fft2(const Tensor& self, OptionalIntArrayRef s = {}, IntArrayRef dim = {-2, -1},
                   std::optional<std::string_view> norm = {}) {
  return fft_fft2(self, s, dim, norm);
}
inline Tensor ifft2(const Tensor& self, OptionalIntArrayRef s = {}, IntArrayRef dim = {-2, -1},
                    std::optional<std::string_view> norm = {}) {
  return fft_ifft2(self, s, dim, norm);
}
inline Tensor rfft2(const Tensor& self, OptionalIntArrayRef s = {}, IntArrayRef dim = {-2, -1},
                    std::optional<std::string_view> norm = {}) {
  return fft_rfft2(self, s, dim, norm);
}
inline Tensor irfft2(const Tensor& self, OptionalIntArrayRef s = {}, IntArrayRef dim = {-2, -1},
                     std::optional<std::string_view> norm = {}) {
  return fft_irfft2(self, s, dim, norm);
}
inline Tensor hfft2(const Tensor& self, OptionalIntArrayRef s = {}, IntArrayRef dim = {-2, -1},
                    std::optional<std::string_view> norm = {}) {
  return fft_hfft2(self, s, dim, norm);
}
inline Tensor ihfft2(const Tensor& self, OptionalIntArrayRef s = {}, IntArrayRef dim = {-2, -1},
                     std::optional<std::string_view> norm = {}) {
  return fft_ihfft2(self, s, dim, norm);
}
inline Tensor fftn(const Tensor& self, OptionalIntArrayRef s = {}, OptionalIntArrayRef dim = {},
                   std::optional<std::string_view> norm = {}) {
  return fft_fftn(self, s, dim, norm);
}
inline Tensor ifftn(const Tensor& self, OptionalIntArrayRef s = {}, OptionalIntArrayRef dim = {},
                    std::optional<std::string_view> norm = {}) {
  return fft_ifftn(self, s, dim, norm);
}
inline Tensor rfftn(const Tensor& self, OptionalIntArrayRef s = {}, OptionalIntArrayRef dim = {},
                    std::optional<std::string_view> norm = {}) {
  return fft_rfftn(self, s, dim, norm);
}
inline Tensor irfftn(const Tensor& self, OptionalIntArrayRef s = {}, OptionalIntArrayRef dim = {},
                     std::optional<std::string_view> norm = {}) {
  return fft_irfftn(self, s, dim, norm);
}
inline Tensor hfftn(const Tensor& self, OptionalIntArrayRef s = {}, IntArrayRef dim = {-2, -1},
                    std::optional<std::string_view> norm = {}) {
  return fft_hfftn(self, s, dim, norm);
}
inline Tensor ihfftn(const Tensor& self, OptionalIntArrayRef s = {}, IntArrayRef dim = {-2, -1},
                     std::optional<std::string_view> norm = {}) {
  return fft_ihfftn(self, s, dim, norm);
}
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
