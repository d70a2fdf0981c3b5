// The discrete Fourier transform of pairs of real and imaginary parts, and of real numbers.
#pragma once

#include <ambit/tensor.h>

namespace ambit {

/// Return scale times the transform along `dim` of x, whose last dim has the real and the imaginary
/// part: y[k] = scale * sum over j of exp(-2 pi i j k / n) x[j], or of exp(2 pi i j k / n) x[j] if
/// inverse. Negative dims count from the end, the dim of pairs included. Errors: DTypeError unless
/// floating point; ShapeError unless the last of two or more dims has size 2; IndexError for that
/// dim or one out of range. Gradient: x.
AMBIT_API Tensor fft_pairs(const Tensor& x, int64_t dim, bool inverse = false, double scale = 1);
/// Return elements 0 to n / 2 of the transform along `dim` of the n real numbers of each line, as
/// pairs: dim has size n / 2 + 1, and a last dim of size 2 is added. Errors: DTypeError unless
/// floating point; IndexError; ShapeError for n = 0. Gradient: x.
AMBIT_API Tensor rfft_pairs(const Tensor& x, int64_t dim, double scale = 1);
/// Return scale times the inverse transform along `dim` of n pairs, of which x has the first n / 2
/// + 1: pair n - k is the conjugate of pair k. The result is real and lacks x's last dim; imaginary
/// parts of pairs 0 and n / 2 count as 0. Errors: those of fft_pairs; ShapeError if x has another
/// number of pairs. Gradient: x.
AMBIT_API Tensor irfft_pairs(const Tensor& x, int64_t dim, int64_t n, double scale = 1);

}  // namespace ambit
