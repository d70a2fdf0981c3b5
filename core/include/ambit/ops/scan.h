// Scans: what a reduction gives of self[0 .. i] for each i along dim, of self's shape. Negative
// dims count from the end; a 0-dim tensor counts as one of one element. In place (`name_`) self is
// returned; AutogradError for a leaf that requires grad, outside of NoGradGuard.
// Errors of all: IndexError (a dim out of range), DTypeError; Error for an undefined tensor.
#pragma once

#include <ambit/tensor.h>

namespace ambit {

/// Sum up along dim: out[i] = sum over j <= i of self[j]. Floats keep their dtype, bool and
/// integers give int64 (which wraps); `dtype`, not bool, converts self first. Gradient: self.
AMBIT_API Tensor cumsum(const Tensor& self, int64_t dim, std::optional<DType> dtype = {});
/// Do it in self, in its dtype, which `dtype` may only repeat.
AMBIT_API const Tensor& cumsum_(const Tensor& self, int64_t dim, std::optional<DType> dtype = {});
/// Multiply up along dim, as cumsum sums. Gradient: self, right at zeros too.
AMBIT_API Tensor cumprod(const Tensor& self, int64_t dim, std::optional<DType> dtype = {});
AMBIT_API const Tensor& cumprod_(const Tensor& self, int64_t dim, std::optional<DType> dtype = {});
/// Compute the logarithm of the running sum of e^self, safe from overflow. Floating point only.
/// Gradient: self.
AMBIT_API Tensor logcumsumexp(const Tensor& self, int64_t dim);
/// Find the largest of self[0 .. i] along dim, and where it is: values of self's dtype and indices,
/// int64, the last of equals; NaN wins, and stays. Gradient: to the elements at the indices.
AMBIT_API std::tuple<Tensor, Tensor> cummax(const Tensor& self, int64_t dim);
/// Find the smallest, as cummax the largest.
AMBIT_API std::tuple<Tensor, Tensor> cummin(const Tensor& self, int64_t dim);

}  // namespace ambit
