// Sums, means and maxima of bags of rows; nn's function checks the operands.
#pragma once

#include <ambit/params.h>
#include <ambit/tensor.h>

namespace ambit {

/// Check int64 offsets of bags of n indices: they start with 0 and are non-decreasing, up to n.
/// Asynchronous devices are not checked: their kernels skip values out of range. Errors: Error.
AMBIT_API void check_bag_offsets(const Tensor& offsets, int64_t n);

/// Return y [B,D] of weight [V,D]: for each bag b, offsets[b] <= i < offsets[b + 1], the sum, mean
/// or maximum of rows weight[index[i]] * factors[i], as in kernels::embedding_bag. index [n] int64;
/// offsets [B+1] int64, non-decreasing in [0, n]; factors [n] of weight's dtype, undefined: ones.
/// frequencies [n], may be undefined: divisors of the rows' gradients. Errors: IndexError,
/// DeviceMismatchError. Gradient: weight, factors.
AMBIT_API Tensor embedding_bags(const Tensor& weight, const Tensor& index, const Tensor& offsets,
                                const Tensor& factors, const Tensor& frequencies,
                                const EmbeddingBagParams& p);

}  // namespace ambit
