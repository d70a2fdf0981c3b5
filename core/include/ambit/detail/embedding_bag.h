// Sums, means and maxima of bags of rows, for the function of the layers that checks the operands.
#pragma once

#include <ambit/params.h>
#include <ambit/tensor.h>

namespace ambit {

/// Check int64 offsets of bags of n indices: 0 first, then rising up to n at most. On devices that
/// the host waits for nothing is checked: there kernels skip what is outside. Errors: Error.
AMBIT_API void check_bag_offsets(const Tensor& offsets, int64_t n);

/// Return y [B,D] of weight [V,D]: of each bag b, offsets[b] <= i < offsets[b + 1], the sum, mean
/// or maximum of rows weight[index[i]] * factors[i], as kernels::embedding_bag has them. index [n]
/// int64, offsets [B+1] int64, rising in [0, n]; factors [n] of weight's dtype, undefined: ones.
/// frequencies [n], may be undefined: what the gradients of the rows are divided by.
/// Errors: IndexError, DeviceMismatchError. Gradient: weight, factors.
AMBIT_API Tensor embedding_bags(const Tensor& weight, const Tensor& index, const Tensor& offsets,
                                const Tensor& factors, const Tensor& frequencies,
                                const EmbeddingBagParams& p);

}  // namespace ambit
