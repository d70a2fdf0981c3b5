// Sums of overlapping windows.
#pragma once

#include <ambit/tensor.h>

namespace ambit {

/// Add windows [..., n, ..., size], n of them along dim, into zeros of `sizes`; window i begins at
/// element i * step of dim: the gradient of unfold. Gradient: windows.
Tensor sum_windows(const Tensor& windows, IntArrayRef sizes, int64_t dim, int64_t step);

}  // namespace ambit
