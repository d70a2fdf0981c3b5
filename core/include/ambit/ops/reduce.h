// Reductions over the given dims; negative ones count from the end; without dims, or with an empty
// list, over all. The result has self's shape without the reduced dims, [] if all are reduced; with
// keepdim they have size 1. A 0-dim tensor counts as having one element. Errors of all: IndexError
// (a dim out of range), ShapeError (a duplicate dim; more than 64 dims), DTypeError; Error for an
// undefined tensor.
#pragma once

#include <ambit/tensor.h>

#include <concepts>

namespace ambit {

/// Compute the sum; 0 if empty. Floats keep their dtype, bool and integers give int64 (which
/// wraps); `dtype` converts self first (with bool the result is any()). Gradient: self.
/// @{
AMBIT_API Tensor sum(const Tensor& self, std::optional<DType> dtype = {});
AMBIT_API Tensor sum(const Tensor& self, IntArrayRef dims, bool keepdim = false,
                     std::optional<DType> dtype = {});
/// @}
/// Compute the mean; NaN if empty. Floating point only. `dtype` converts self first. Gradient:
/// self.
/// @{
AMBIT_API Tensor mean(const Tensor& self, std::optional<DType> dtype = {});
AMBIT_API Tensor mean(const Tensor& self, IntArrayRef dims, bool keepdim = false,
                      std::optional<DType> dtype = {});
/// @}
/// Compute the sum of the elements that are not NaN; dtypes as sum. Gradient: self, 0 where it is
/// NaN.
AMBIT_API Tensor nansum(const Tensor& self, IntArrayRef dims = {}, bool keepdim = false,
                        std::optional<DType> dtype = {});
/// Compute the mean of the elements that are not NaN; NaN if all are. Floating point only.
/// Gradient: self, 0 where it is NaN.
AMBIT_API Tensor nanmean(const Tensor& self, IntArrayRef dims = {}, bool keepdim = false,
                         std::optional<DType> dtype = {});
/// Compute the product; 1 if empty. Dtypes as sum. Gradient: self, correct at zeros too.
/// @{
AMBIT_API Tensor prod(const Tensor& self, std::optional<DType> dtype = {});
AMBIT_API Tensor prod(const Tensor& self, int64_t dim, bool keepdim = false,
                      std::optional<DType> dtype = {});
/// @}
/// Sum over the dims that broadcasting from `sizes` to self's sizes adds or expands; the result has
/// `sizes`. Errors: also ShapeError if `sizes` do not broadcast to self's. Gradient: self.
AMBIT_API Tensor sum_to_size(const Tensor& self, IntArrayRef sizes);
/// Count the elements that are not 0, including NaN: int64. No gradient.
/// @{
AMBIT_API Tensor count_nonzero(const Tensor& self, IntArrayRef dims);
AMBIT_API Tensor count_nonzero(const Tensor& self, std::optional<int64_t> dim = {});
/// @}
/// As above, along one dim.
template <std::integral I>
Tensor count_nonzero(const Tensor& self, I dim) {
  return count_nonzero(self, std::optional<int64_t>(dim));
}
/// Compute the variance in two passes: sum of (x - mean)^2 / (n - 1), or / n if not unbiased.
/// Floating point only. NaN for no elements, and for one if unbiased. Gradient: self.
/// @{
AMBIT_API Tensor var(const Tensor& self, bool unbiased = true);
AMBIT_API Tensor var(const Tensor& self, IntArrayRef dims, bool unbiased = true,
                     bool keepdim = false);
/// @}
/// As above, but divide by n - correction, or by 0 if that is negative; default correction: 1.
AMBIT_API Tensor var(const Tensor& self, IntArrayRef dims, const std::optional<Scalar>& correction,
                     bool keepdim = false);
/// Compute the standard deviation, the square root of var. Gradient: self; 0 where the result is 0.
/// @{
AMBIT_API Tensor std(const Tensor& self, bool unbiased = true);
AMBIT_API Tensor std(const Tensor& self, IntArrayRef dims, bool unbiased = true,
                     bool keepdim = false);
/// @}
/// As above, with a correction, as for var.
AMBIT_API Tensor std(const Tensor& self, IntArrayRef dims, const std::optional<Scalar>& correction,
                     bool keepdim = false);
/// Along one dim: an integer is a dim here, a bool is `unbiased`.
template <std::integral I>
requires(!std::same_as<I, bool>) Tensor var(const Tensor& self, I dim) {
  return ambit::var(self, IntArrayRef{static_cast<int64_t>(dim)});
}
/// Along one dim: an integer is a dim here, a bool is `unbiased`.
template <std::integral I>
requires(!std::same_as<I, bool>) Tensor std(const Tensor& self, I dim) {
  return ambit::std(self, IntArrayRef{static_cast<int64_t>(dim)});
}
/// Compute var and mean.
/// @{
AMBIT_API std::tuple<Tensor, Tensor> var_mean(const Tensor& self, bool unbiased = true);
AMBIT_API std::tuple<Tensor, Tensor> var_mean(const Tensor& self, IntArrayRef dims,
                                              bool unbiased = true, bool keepdim = false);
AMBIT_API std::tuple<Tensor, Tensor> var_mean(const Tensor& self, IntArrayRef dims,
                                              const std::optional<Scalar>& correction,
                                              bool keepdim = false);
/// @}
/// Compute std and mean.
/// @{
AMBIT_API std::tuple<Tensor, Tensor> std_mean(const Tensor& self, bool unbiased = true);
AMBIT_API std::tuple<Tensor, Tensor> std_mean(const Tensor& self, IntArrayRef dims,
                                              bool unbiased = true, bool keepdim = false);
AMBIT_API std::tuple<Tensor, Tensor> std_mean(const Tensor& self, IntArrayRef dims,
                                              const std::optional<Scalar>& correction,
                                              bool keepdim = false);
/// @}
/// Compute var_mean along one dim: an integer is a dim here, a bool is `unbiased`.
template <std::integral I>
requires(!std::same_as<I, bool>) std::tuple<Tensor, Tensor> var_mean(const Tensor& self, I dim) {
  return var_mean(self, IntArrayRef{static_cast<int64_t>(dim)});
}
/// Compute std_mean along one dim: an integer is a dim here, a bool is `unbiased`.
template <std::integral I>
requires(!std::same_as<I, bool>) std::tuple<Tensor, Tensor> std_mean(const Tensor& self, I dim) {
  return std_mean(self, IntArrayRef{static_cast<int64_t>(dim)});
}
/// Compute the largest element, [] of self's dtype; NaN propagates. Errors: also ShapeError if self
/// is empty. Gradient: shared equally among ties.
AMBIT_API Tensor max(const Tensor& self);
/// Compute the smallest element, like max.
AMBIT_API Tensor min(const Tensor& self);
/// Compute the largest elements along dim and their indices: values of self's dtype, and int64
/// indices along dim, the first one of ties; NaN propagates. Errors: also ShapeError if dim has
/// size 0. Gradient: to the elements at the indices.
AMBIT_API std::tuple<Tensor, Tensor> max(const Tensor& self, int64_t dim, bool keepdim = false);
/// Compute the smallest elements along dim and their indices, like max.
AMBIT_API std::tuple<Tensor, Tensor> min(const Tensor& self, int64_t dim, bool keepdim = false);
/// Compute the largest elements over dims; NaN propagates. Errors: also ShapeError if there are
/// none. Gradient: shared equally among ties.
AMBIT_API Tensor amax(const Tensor& self, IntArrayRef dims = {}, bool keepdim = false);
/// Compute the smallest elements over dims, like amax.
AMBIT_API Tensor amin(const Tensor& self, IntArrayRef dims = {}, bool keepdim = false);
/// Compute the smallest and largest elements, along dim or of all: {amin, amax}. keepdim without
/// dim gives sizes of 1.
AMBIT_API std::tuple<Tensor, Tensor> aminmax(const Tensor& self, std::optional<int64_t> dim = {},
                                             bool keepdim = false);
/// Compute the elementwise maximum of two tensors, not a reduction: maximum() of elementwise.h.
AMBIT_API Tensor max(const Tensor& self, const Tensor& other);
/// Compute the elementwise minimum of two tensors, not a reduction: minimum() of elementwise.h.
AMBIT_API Tensor min(const Tensor& self, const Tensor& other);
/// Return the index of the largest element along dim, or without dim its row-major position; int64,
/// the first one of ties; NaN counts as largest. Errors: also ShapeError if there is no element. No
/// gradient.
AMBIT_API Tensor argmax(const Tensor& self, std::optional<int64_t> dim = {}, bool keepdim = false);
/// Return the index of the smallest element, like argmax; NaN counts as smallest.
AMBIT_API Tensor argmin(const Tensor& self, std::optional<int64_t> dim = {}, bool keepdim = false);
/// Return true if any element is not 0 (NaN counts as not 0); false if empty. uint8 gives uint8, 0
/// or 1, all other dtypes bool; no gradient.
/// @{
AMBIT_API Tensor any(const Tensor& self);
AMBIT_API Tensor any(const Tensor& self, int64_t dim, bool keepdim = false);
/// @}
/// As above, over dims; nullopt: over all. An empty list, unlike elsewhere, reduces nothing: the
/// elements are only converted.
AMBIT_API Tensor any(const Tensor& self, OptionalIntArrayRef dims, bool keepdim = false);
/// Return true if all elements are not 0 (NaN counts as not 0); true if empty. uint8 gives uint8, 0
/// or 1, all other dtypes bool; no gradient.
/// @{
AMBIT_API Tensor all(const Tensor& self);
AMBIT_API Tensor all(const Tensor& self, int64_t dim, bool keepdim = false);
/// @}
/// As above, over dims, like any().
AMBIT_API Tensor all(const Tensor& self, OptionalIntArrayRef dims, bool keepdim = false);
/// Compute a checksum: the bitwise xor, over dims, of the bits of the elements as float64, for
/// integers and bool as int64; 0 if empty. uint64. The order of the elements does not matter.
/// Errors: also Error for a mode other than 0. No gradient.
AMBIT_API Tensor hash_tensor(const Tensor& self, IntArrayRef dims = {}, bool keepdim = false,
                             int64_t mode = 0);
/// Compute a vector norm, for matrices too over all elements.
///   (sum of |x|^p)^(1/p); p = 0: the number of non-zeros; p = inf, -inf: the largest, smallest |x|
/// Floating point only. 0 if empty, for any p. Gradient: self; 0 where the norm is 0; for p = +-inf
/// shared among ties; none for p = 0.
AMBIT_API Tensor norm(const Tensor& self, const Scalar& p = 2);
/// Default p: 2; dtype (floating point) converts self first.
/// @{
AMBIT_API Tensor norm(const Tensor& self, const std::optional<Scalar>& p, DType dtype);
AMBIT_API Tensor norm(const Tensor& self, const std::optional<Scalar>& p, IntArrayRef dims,
                      bool keepdim = false);
AMBIT_API Tensor norm(const Tensor& self, const std::optional<Scalar>& p, IntArrayRef dims,
                      bool keepdim, DType dtype);
/// @}
/// Compute norm(self - other, p); the two broadcast. Gradient: self, other.
AMBIT_API Tensor dist(const Tensor& self, const Tensor& other, const Scalar& p = 2);
/// Scale each slice self[.., i, ..] of dim whose p-norm exceeds maxnorm to that norm. Floating
/// point only. Errors: also ShapeError for fewer than 2 dims; Error for p <= 0 or maxnorm < 0.
/// Gradient: self.
/// @{
AMBIT_API Tensor renorm(const Tensor& self, const Scalar& p, int64_t dim, const Scalar& maxnorm);
AMBIT_API const Tensor& renorm_(const Tensor& self, const Scalar& p, int64_t dim,
                                const Scalar& maxnorm);
/// @}
/// Compute log(sum of exp(x)) as m + log(sum of exp(x - m)), m the maximum, to avoid overflow.
/// Integers are converted to floats. -inf if empty. Gradient: self, its softmax over dims.
AMBIT_API Tensor logsumexp(const Tensor& self, IntArrayRef dims, bool keepdim = false);

/// Compute the p-norms, p = pow, over all dims except one, whose other dims become size 1; with dim
/// -1 over all, []. Weight normalization divides by it. Errors and gradient: norm().
AMBIT_API Tensor norm_except_dim(const Tensor& v, int64_t pow = 2, int64_t dim = 0);

}  // namespace ambit
