// Windows: weights of n samples in a row, that fall to both ends. `periodic`: the first n of the n
// + 1 that the formula gives, so that copies of the window join; else all n of n. Floating point,
// the default dtype unless options say another; [n], of 1 sample {1}. Errors of all: Error for n <
// 0; DTypeError for integers and bool. No gradient. k counts from 0 to m - 1, m = n + 1 or n.
#pragma once

#include <ambit/tensor.h>
#include <ambit/tensor_options.h>

namespace ambit {

/// Bartlett's window: 1 - |2 k / (m - 1) - 1|.
AMBIT_API Tensor bartlett_window(int64_t window_length, const TensorOptions& options = {});
AMBIT_API Tensor bartlett_window(int64_t window_length, bool periodic,
                                 const TensorOptions& options = {});
/// Blackman's window: 0.42 - 0.5 cos(2 pi k / (m - 1)) + 0.08 cos(4 pi k / (m - 1)).
AMBIT_API Tensor blackman_window(int64_t window_length, const TensorOptions& options = {});
AMBIT_API Tensor blackman_window(int64_t window_length, bool periodic,
                                 const TensorOptions& options = {});
/// Hann's window: 0.5 - 0.5 cos(2 pi k / (m - 1)).
AMBIT_API Tensor hann_window(int64_t window_length, const TensorOptions& options = {});
AMBIT_API Tensor hann_window(int64_t window_length, bool periodic,
                             const TensorOptions& options = {});
/// Hamming's window: alpha - beta cos(2 pi k / (m - 1)), alpha 0.54 and beta 0.46 unless given.
AMBIT_API Tensor hamming_window(int64_t window_length, const TensorOptions& options = {});
AMBIT_API Tensor hamming_window(int64_t window_length, bool periodic,
                                const TensorOptions& options = {});
AMBIT_API Tensor hamming_window(int64_t window_length, bool periodic, double alpha,
                                const TensorOptions& options = {});
AMBIT_API Tensor hamming_window(int64_t window_length, bool periodic, double alpha, double beta,
                                const TensorOptions& options = {});
/// Kaiser's window: i0(beta sqrt(1 - (2 k / (m - 1) - 1)^2)) / i0(beta), beta 12 unless given.
AMBIT_API Tensor kaiser_window(int64_t window_length, const TensorOptions& options = {});
AMBIT_API Tensor kaiser_window(int64_t window_length, bool periodic,
                               const TensorOptions& options = {});
AMBIT_API Tensor kaiser_window(int64_t window_length, bool periodic, double beta,
                               const TensorOptions& options = {});

}  // namespace ambit
