// Window functions: weights [n] for n consecutive samples that decrease towards both ends.
// `periodic`: the first n values of the formula for n + 1, so that copies of the window join; else
// all values for n. Floating point, by default the default dtype; {1} for 1 sample. Errors of all:
// Error for n < 0; DTypeError for integers and bool. No gradient. k counts from 0 to m - 1, m = n +
// 1 or n.
#pragma once

#include <ambit/tensor.h>
#include <ambit/tensor_options.h>

namespace ambit {

/// Bartlett window: 1 - |2 k / (m - 1) - 1|.
/// @{
AMBIT_API Tensor bartlett_window(int64_t window_length, const TensorOptions& options = {});
AMBIT_API Tensor bartlett_window(int64_t window_length, bool periodic,
                                 const TensorOptions& options = {});
/// @}
/// Blackman window: 0.42 - 0.5 cos(2 pi k / (m - 1)) + 0.08 cos(4 pi k / (m - 1)).
/// @{
AMBIT_API Tensor blackman_window(int64_t window_length, const TensorOptions& options = {});
AMBIT_API Tensor blackman_window(int64_t window_length, bool periodic,
                                 const TensorOptions& options = {});
/// @}
/// Hann window: 0.5 - 0.5 cos(2 pi k / (m - 1)).
/// @{
AMBIT_API Tensor hann_window(int64_t window_length, const TensorOptions& options = {});
AMBIT_API Tensor hann_window(int64_t window_length, bool periodic,
                             const TensorOptions& options = {});
/// @}
/// Hamming window: alpha - beta cos(2 pi k / (m - 1)), default alpha 0.54 and beta 0.46.
/// @{
AMBIT_API Tensor hamming_window(int64_t window_length, const TensorOptions& options = {});
AMBIT_API Tensor hamming_window(int64_t window_length, bool periodic,
                                const TensorOptions& options = {});
AMBIT_API Tensor hamming_window(int64_t window_length, bool periodic, double alpha,
                                const TensorOptions& options = {});
AMBIT_API Tensor hamming_window(int64_t window_length, bool periodic, double alpha, double beta,
                                const TensorOptions& options = {});
/// @}
/// Kaiser window: i0(beta sqrt(1 - (2 k / (m - 1) - 1)^2)) / i0(beta), default beta 12.
/// @{
AMBIT_API Tensor kaiser_window(int64_t window_length, const TensorOptions& options = {});
AMBIT_API Tensor kaiser_window(int64_t window_length, bool periodic,
                               const TensorOptions& options = {});
AMBIT_API Tensor kaiser_window(int64_t window_length, bool periodic, double beta,
                               const TensorOptions& options = {});
/// @}

}  // namespace ambit
