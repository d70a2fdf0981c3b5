// The discrete Fourier transform of pairs of real and imaginary parts.
#pragma once

#include <ambit/tensor.h>

namespace ambit {

/// Return scale times the transform along `dim` of x, whose last dim has the real and the imaginary
/// part: y[k] = scale * sum over j of exp(-2 pi i j k / n) x[j], or of exp(2 pi i j k / n) x[j] if
/// inverse. Negative dims count from the end, the dim of pairs included. Errors: DTypeError unless
/// floating point; ShapeError unless the last of two or more dims has size 2; IndexError for that
/// dim or one out of range. Gradient: x.
AMBIT_API Tensor fft_pairs(const Tensor& x, int64_t dim, bool inverse = false, double scale = 1);

}  // namespace ambit
