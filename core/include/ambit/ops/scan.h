// Scans: the reduction of self[0 .. i] for each i along dim, of self's shape. Negative dims count
// from the end; a 0-dim tensor counts as having one element. In place (`name_`), self is returned;
// AutogradError for a leaf that requires grad, outside of NoGradGuard. Errors of all: IndexError (a
// dim out of range), DTypeError; Error for an undefined tensor.
#pragma once

#include <ambit/tensor.h>

namespace ambit {

/// Compute the cumulative sum along dim: out[i] = sum over j <= i of self[j]. Floats keep their
/// dtype, bool and integers give int64 (which wraps); `dtype`, not bool, converts self first.
/// Gradient: self.
AMBIT_API Tensor cumsum(const Tensor& self, int64_t dim, std::optional<DType> dtype = {});
/// As above, but in place; `dtype` must be omitted or self's.
AMBIT_API const Tensor& cumsum_(const Tensor& self, int64_t dim, std::optional<DType> dtype = {});
/// Compute the cumulative product along dim; dtypes as cumsum. Gradient: self, also at zeros.
/// @{
AMBIT_API Tensor cumprod(const Tensor& self, int64_t dim, std::optional<DType> dtype = {});
AMBIT_API const Tensor& cumprod_(const Tensor& self, int64_t dim, std::optional<DType> dtype = {});
/// @}
/// Compute the logarithm of the cumulative sum of e^self without overflow. Floating point only.
/// Gradient: self.
AMBIT_API Tensor logcumsumexp(const Tensor& self, int64_t dim);
/// Compute the largest of self[0 .. i] along dim and its index: values of self's dtype and int64
/// indices, the last one of ties; NaN propagates. Gradient: to the elements at the indices.
AMBIT_API std::tuple<Tensor, Tensor> cummax(const Tensor& self, int64_t dim);
/// Compute the smallest of self[0 .. i], like cummax.
AMBIT_API std::tuple<Tensor, Tensor> cummin(const Tensor& self, int64_t dim);

}  // namespace ambit
