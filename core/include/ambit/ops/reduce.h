// Reductions: over the dims given, each once, negative ones counted from the end; without dims, or
// with an empty list of them, over all. The result has self's shape without the reduced dims, []
// where all are; with keepdim they stay, with size 1. A 0-dim tensor counts as one of one element.
// Errors of all: IndexError (a dim out of range), ShapeError (a dim twice; more than 64 dims),
// DTypeError; Error for an undefined tensor.
#pragma once

#include <ambit/tensor.h>

#include <concepts>

namespace ambit {

/// Sum the elements; 0 of none. Floats keep their dtype, bool and integers give int64 (which
/// wraps); `dtype` converts self first, to bool it tells whether any is true. Gradient: self.
AMBIT_API Tensor sum(const Tensor& self, std::optional<DType> dtype = {});
AMBIT_API Tensor sum(const Tensor& self, IntArrayRef dims, bool keepdim = false,
                     std::optional<DType> dtype = {});
/// Compute the mean, sum / n for n elements each; NaN of none. Floating point only. Gradient: self.
/// `dtype` converts self first.
AMBIT_API Tensor mean(const Tensor& self, std::optional<DType> dtype = {});
AMBIT_API Tensor mean(const Tensor& self, IntArrayRef dims, bool keepdim = false,
                      std::optional<DType> dtype = {});
/// Sum the elements that are not NaN; dtypes as sum. Gradient: self, 0 where it is NaN.
AMBIT_API Tensor nansum(const Tensor& self, IntArrayRef dims = {}, bool keepdim = false,
                        std::optional<DType> dtype = {});
/// Compute the mean of the elements that are not NaN; NaN where all are. Floating point only.
/// Gradient: self, 0 where it is NaN.
AMBIT_API Tensor nanmean(const Tensor& self, IntArrayRef dims = {}, bool keepdim = false,
                         std::optional<DType> dtype = {});
/// Multiply the elements; 1 of none. Dtypes as sum. Gradient: self, right at zeros too.
AMBIT_API Tensor prod(const Tensor& self, std::optional<DType> dtype = {});
AMBIT_API Tensor prod(const Tensor& self, int64_t dim, bool keepdim = false,
                      std::optional<DType> dtype = {});
/// Sum over the dims that broadcasting from `sizes` to self's sizes has added or grown: the result
/// has `sizes`. Errors also: ShapeError where they do not broadcast to self's. Gradient: self.
AMBIT_API Tensor sum_to_size(const Tensor& self, IntArrayRef sizes);
/// Count the elements that are not 0, NaN too: int64. No gradient.
AMBIT_API Tensor count_nonzero(const Tensor& self, IntArrayRef dims);
AMBIT_API Tensor count_nonzero(const Tensor& self, std::optional<int64_t> dim = {});
template <std::integral I>
Tensor count_nonzero(const Tensor& self, I dim) {
  return count_nonzero(self, std::optional<int64_t>(dim));
}
/// Compute the variance: sum of (x - mean)^2 / (n - 1), or / n where not unbiased, in two passes.
/// Floating point only. NaN of no elements, and of one if unbiased. Gradient: self.
AMBIT_API Tensor var(const Tensor& self, bool unbiased = true);
AMBIT_API Tensor var(const Tensor& self, IntArrayRef dims, bool unbiased = true,
                     bool keepdim = false);
/// The same divided by n - correction, 1 where it is left out.
AMBIT_API Tensor var(const Tensor& self, IntArrayRef dims, std::optional<int64_t> correction,
                     bool keepdim = false);
/// Compute the standard deviation: the square root of var. Gradient: self; 0 where it is 0.
AMBIT_API Tensor std(const Tensor& self, bool unbiased = true);
AMBIT_API Tensor std(const Tensor& self, IntArrayRef dims, bool unbiased = true,
                     bool keepdim = false);
AMBIT_API Tensor std(const Tensor& self, IntArrayRef dims, std::optional<int64_t> correction,
                     bool keepdim = false);
/// Along one dim: an integer is a dim here, and a bool says whether unbiased.
template <std::integral I>
requires(!std::same_as<I, bool>) Tensor var(const Tensor& self, I dim) {
  return ambit::var(self, IntArrayRef{static_cast<int64_t>(dim)});
}
template <std::integral I>
requires(!std::same_as<I, bool>) Tensor std(const Tensor& self, I dim) {
  return ambit::std(self, IntArrayRef{static_cast<int64_t>(dim)});
}
/// Compute var and mean.
AMBIT_API std::tuple<Tensor, Tensor> var_mean(const Tensor& self, bool unbiased = true);
AMBIT_API std::tuple<Tensor, Tensor> var_mean(const Tensor& self, IntArrayRef dims,
                                              bool unbiased = true, bool keepdim = false);
AMBIT_API std::tuple<Tensor, Tensor> var_mean(const Tensor& self, IntArrayRef dims,
                                              std::optional<int64_t> correction,
                                              bool keepdim = false);
/// Compute std and mean.
AMBIT_API std::tuple<Tensor, Tensor> std_mean(const Tensor& self, bool unbiased = true);
AMBIT_API std::tuple<Tensor, Tensor> std_mean(const Tensor& self, IntArrayRef dims,
                                              bool unbiased = true, bool keepdim = false);
AMBIT_API std::tuple<Tensor, Tensor> std_mean(const Tensor& self, IntArrayRef dims,
                                              std::optional<int64_t> correction,
                                              bool keepdim = false);
template <std::integral I>
requires(!std::same_as<I, bool>) std::tuple<Tensor, Tensor> var_mean(const Tensor& self, I dim) {
  return var_mean(self, IntArrayRef{static_cast<int64_t>(dim)});
}
template <std::integral I>
requires(!std::same_as<I, bool>) std::tuple<Tensor, Tensor> std_mean(const Tensor& self, I dim) {
  return std_mean(self, IntArrayRef{static_cast<int64_t>(dim)});
}
/// Find the largest element, [] of self's dtype; NaN wins. Errors also: ShapeError where there is
/// none. Gradient: shared equally among equals.
AMBIT_API Tensor max(const Tensor& self);
/// Find the smallest element, as max the largest; NaN wins here too.
AMBIT_API Tensor min(const Tensor& self);
/// Find the largest elements along dim, and where they are: values of self's dtype and indices
/// along dim, int64, of equals the first; NaN wins. Errors also: ShapeError where dim has size 0.
/// Gradient: to the elements at the indices.
AMBIT_API std::tuple<Tensor, Tensor> max(const Tensor& self, int64_t dim, bool keepdim = false);
/// Find the smallest elements along dim, as max the largest.
AMBIT_API std::tuple<Tensor, Tensor> min(const Tensor& self, int64_t dim, bool keepdim = false);
/// Find the largest elements over dims; NaN wins. Errors also: ShapeError where there is none.
/// Gradient: shared equally among equals.
AMBIT_API Tensor amax(const Tensor& self, IntArrayRef dims = {}, bool keepdim = false);
/// Find the smallest elements over dims, as amax the largest.
AMBIT_API Tensor amin(const Tensor& self, IntArrayRef dims = {}, bool keepdim = false);
/// Find the smallest and the largest elements, along dim or of all: {amin, amax}. keepdim without
/// dim gives sizes of 1.
AMBIT_API std::tuple<Tensor, Tensor> aminmax(const Tensor& self, std::optional<int64_t> dim = {},
                                             bool keepdim = false);
/// Take the larger of each two elements, no reduction: maximum() of elementwise.h.
AMBIT_API Tensor max(const Tensor& self, const Tensor& other);
/// Take the smaller of each two elements, no reduction: minimum() of elementwise.h.
AMBIT_API Tensor min(const Tensor& self, const Tensor& other);
/// Find where the largest elements along dim are; without dim the position in row-major order.
/// int64, of equals the first; NaN wins. Errors also: ShapeError where there is no element. No
/// gradient.
AMBIT_API Tensor argmax(const Tensor& self, std::optional<int64_t> dim = {}, bool keepdim = false);
/// Find where the smallest elements are, as argmax the largest.
AMBIT_API Tensor argmin(const Tensor& self, std::optional<int64_t> dim = {}, bool keepdim = false);
/// Tell whether any element is not 0 (NaN is not); false of none. uint8 gives uint8, 0 or 1,
/// every other dtype bool; no gradient.
AMBIT_API Tensor any(const Tensor& self);
AMBIT_API Tensor any(const Tensor& self, int64_t dim, bool keepdim = false);
/// Tell whether all elements are not 0 (NaN is not); true of none. uint8 gives uint8, 0 or 1,
/// every other dtype bool; no gradient.
AMBIT_API Tensor all(const Tensor& self);
AMBIT_API Tensor all(const Tensor& self, int64_t dim, bool keepdim = false);
/// Compute a vector norm, also of matrices.
///   (sum of |x|^p)^(1/p); p = 0: how many are not 0; p = inf, -inf: the largest, smallest |x|
/// Floating point only. 0 of no elements, whatever p. Gradient: self; 0 where the norm is 0, for
/// p = +-inf shared among equals, none for p = 0.
AMBIT_API Tensor norm(const Tensor& self, const Scalar& p = 2);
/// p left out is 2; dtype, floating point, converts self first.
AMBIT_API Tensor norm(const Tensor& self, const std::optional<Scalar>& p, DType dtype);
AMBIT_API Tensor norm(const Tensor& self, const std::optional<Scalar>& p, IntArrayRef dims,
                      bool keepdim = false);
AMBIT_API Tensor norm(const Tensor& self, const std::optional<Scalar>& p, IntArrayRef dims,
                      bool keepdim, DType dtype);
/// Compute norm(self - other, p). The two broadcast. Gradient: self, other.
AMBIT_API Tensor dist(const Tensor& self, const Tensor& other, const Scalar& p = 2);
/// Scale each slice self[.., i, ..] of dim whose p-norm exceeds maxnorm down to that norm. Floating
/// point only. Errors also: ShapeError for fewer than 2 dims; Error for p <= 0 or maxnorm < 0.
/// Gradient: self.
AMBIT_API Tensor renorm(const Tensor& self, const Scalar& p, int64_t dim, const Scalar& maxnorm);
AMBIT_API const Tensor& renorm_(const Tensor& self, const Scalar& p, int64_t dim,
                                const Scalar& maxnorm);
/// Compute log(sum of exp(x)) as m + log(sum of exp(x - m)), m the largest, safe from overflow.
/// Of integers that of floats. -inf of no elements. Gradient: self, its softmax over dims.
AMBIT_API Tensor logsumexp(const Tensor& self, IntArrayRef dims, bool keepdim = false);

/// Compute the p-norms, p = pow, over all dims but one: of self's number of dims, each of the
/// others of size 1; with dim -1 over all, []. What weight normalization divides by. Errors and
/// gradient: norm().
AMBIT_API Tensor norm_except_dim(const Tensor& v, int64_t pow = 2, int64_t dim = 0);

}  // namespace ambit
