// Sorting and related functions: order statistics, distinct elements, binary search, histograms.
// NaN counts as the largest number in either order. Negative dims count from the end; a 0-dim
// tensor counts as having one element. Indices are int64. Errors of all: IndexError (a dim out of
// range), ShapeError, DTypeError, DeviceMismatchError; Error for an undefined tensor.
// NotImplementedError on meta if the result's shape depends on data.
#pragma once

#include <ambit/tensor.h>

#include <concepts>
#include <string_view>

namespace ambit {

/// Sort along dim: values of self's dtype and their original indices along dim. Always stable;
/// `stable` is ignored. Gradient: self, through the indices.
/// @{
AMBIT_API std::tuple<Tensor, Tensor> sort(const Tensor& self, int64_t dim = -1,
                                          bool descending = false);
AMBIT_API std::tuple<Tensor, Tensor> sort(const Tensor& self, std::optional<bool> stable,
                                          int64_t dim = -1, bool descending = false);
/// @}
/// Return the indices of sort(): int64 of self's shape, for gather along dim. No gradient.
AMBIT_API Tensor argsort(const Tensor& self, int64_t dim = -1, bool descending = false);
/// As above; the sort is always stable, so the bool is ignored.
inline Tensor argsort(const Tensor& self, std::same_as<bool> auto /*stable*/, int64_t dim = -1,
                      bool descending = false) {
  return argsort(self, dim, descending);
}
/// Sort along the first dim: the values of sort(self, 0). Gradient: self.
AMBIT_API Tensor msort(const Tensor& self);
/// Return the k largest or smallest elements along dim and their indices, the first of ties, always
/// sorted; `sorted` is ignored. 0 <= k <= size of dim, which becomes k. Errors: also IndexError for
/// another k. Gradient: self.
AMBIT_API std::tuple<Tensor, Tensor> topk(const Tensor& self, int64_t k, int64_t dim = -1,
                                          bool largest = true, bool sorted = true);
/// Return the k-th smallest element along dim, k from 1, and its index. Errors: also IndexError
/// unless 1 <= k <= size of dim. Gradient: self.
AMBIT_API std::tuple<Tensor, Tensor> kthvalue(const Tensor& self, int64_t k, int64_t dim = -1,
                                              bool keepdim = false);
/// Compute the median of all elements, [], the lower one of two; NaN if empty or if any is NaN.
/// Errors: also DTypeError for integers if empty. Gradient: self.
AMBIT_API Tensor median(const Tensor& self);
/// Compute the medians along dim and their indices. Errors: also IndexError if dim has size 0.
AMBIT_API std::tuple<Tensor, Tensor> median(const Tensor& self, int64_t dim, bool keepdim = false);
/// Compute the median of the elements that are not NaN, NaN if all are; otherwise as median.
AMBIT_API Tensor nanmedian(const Tensor& self);
/// Compute nanmedian along dim and the indices.
AMBIT_API std::tuple<Tensor, Tensor> nanmedian(const Tensor& self, int64_t dim,
                                               bool keepdim = false);
/// Return the most frequent element along dim, the smallest of ties, and the index of its last
/// occurrence; NaN counts as a value, with the index of the first. Errors: also IndexError if dim
/// has size 0.
AMBIT_API std::tuple<Tensor, Tensor> mode(const Tensor& self, int64_t dim = -1,
                                          bool keepdim = false);

/// Return the distinct elements, always sorted: values [U] of self's dtype; inverse, of self's
/// shape, the index of each element among them; counts [U]; int64, empty if not requested. Each NaN
/// is distinct. Waits for the device. No gradient.
AMBIT_API std::tuple<Tensor, Tensor, Tensor> _unique2(const Tensor& self, bool sorted = true,
                                                      bool return_inverse = false,
                                                      bool return_counts = false);
/// Same as _unique2 without the counts.
AMBIT_API std::tuple<Tensor, Tensor> _unique(const Tensor& self, bool sorted = true,
                                             bool return_inverse = false);
/// Return the distinct slices along dim, in lexicographic order: [.., U, ..]; inverse [size of dim]
/// and counts [U] as in _unique2. No gradient. Errors: also ShapeError for slices of no elements.
AMBIT_API std::tuple<Tensor, Tensor, Tensor> unique_dim(const Tensor& self, int64_t dim,
                                                        bool sorted = true,
                                                        bool return_inverse = false,
                                                        bool return_counts = false);
/// Keep the first of each run of equal elements, or of equal slices along dim: results as in
/// _unique2 or unique_dim, in order of occurrence. No gradient.
AMBIT_API std::tuple<Tensor, Tensor, Tensor> unique_consecutive(const Tensor& self,
                                                                bool return_inverse = false,
                                                                bool return_counts = false,
                                                                std::optional<int64_t> dim = {});
/// Same as unique_consecutive with a dim.
AMBIT_API std::tuple<Tensor, Tensor, Tensor> unique_dim_consecutive(const Tensor& self, int64_t dim,
                                                                    bool return_inverse = false,
                                                                    bool return_counts = false);

/// Return the index in the last dim of sorted_sequence at which each element of self keeps it
/// sorted: the first i with sorted[i] >= self, or if `right` with sorted[i] > self; NaN goes to the
/// end. sorted_sequence [N], or [..., N] with the leading dims of self [..., M]; any dtypes, but
/// not both bool; different ones promote. out int64 (int32 if out_int32) of self's shape. side
/// "left" or "right" is the same as `right`; sorter, int64 of sorted_sequence's shape: indices that
/// sort it. Errors: also Error for a side that contradicts `right`. No gradient.
/// @{
AMBIT_API Tensor searchsorted(const Tensor& sorted_sequence, const Tensor& self,
                              bool out_int32 = false, bool right = false,
                              std::optional<std::string_view> side = {}, const Tensor& sorter = {});
AMBIT_API Tensor searchsorted(const Tensor& sorted_sequence, const Scalar& self,
                              bool out_int32 = false, bool right = false,
                              std::optional<std::string_view> side = {}, const Tensor& sorter = {});
/// @}
/// Return the bucket of each element of self between sorted boundaries [N]:
/// searchsorted(boundaries, self).
/// @{
AMBIT_API Tensor bucketize(const Tensor& self, const Tensor& boundaries, bool out_int32 = false,
                           bool right = false);
AMBIT_API Tensor bucketize(const Scalar& self, const Tensor& boundaries, bool out_int32 = false,
                           bool right = false);
/// @}
/// Count the occurrences of 0, 1, ... in self [N], integers >= 0: [max + 1], at least minlength;
/// int64, or sums of weights [N] in float64 (float32 for float32 weights). Waits for the device. No
/// gradient. Errors: also Error for negative numbers or minlength.
AMBIT_API Tensor bincount(const Tensor& self, const Tensor& weights = {}, int64_t minlength = 0);
/// Count the elements in each of `bins` equal parts of [min, max], [bins] of self's dtype; if both
/// are equal, of self's range, extended by 1 on both sides if it is empty. Elements outside are not
/// counted. Floating point only. Waits for the device. No gradient. Errors: also Error for bins <=
/// 0, min > max or a range that is not finite.
AMBIT_API Tensor histc(const Tensor& self, int64_t bins = 100, const Scalar& min = 0,
                       const Scalar& max = 0);

/// Count the elements between bin_edges: (hist [bins], bin_edges [bins + 1]), both of self's dtype.
/// bins: the number of equal parts of `range`, {lowest, highest}, or of self's range ([0, 1] if
/// empty; [x - 1/2, x + 1/2] for a single value x); or a tensor of edges [bins + 1], ascending. The
/// last bin includes its upper edge; elements outside and NaN are not counted. weight, of self's
/// shape and dtype: the weight of each element; density: divide by the total and the bin's width.
/// Floating point only. Errors: also Error for no bins and a range that is not finite or
/// descending. No gradient.
/// @{
AMBIT_API std::tuple<Tensor, Tensor> histogram(const Tensor& self, const Tensor& bins,
                                               const Tensor& weight = {}, bool density = false);
AMBIT_API std::tuple<Tensor, Tensor> histogram(const Tensor& self, int64_t bins = 100,
                                               std::optional<ArrayRef<double>> range = {},
                                               const Tensor& weight = {}, bool density = false);
/// @}
/// Count the points of self [..., D] in a grid: (hist [bins of each dim], the bin_edges of each
/// dim). bins: the number of equal parts of each dim, or one for all; or the edges of each dim.
/// range: {lowest, highest} of each dim, [2 D]; ignored if edges are given. weight [...]: the
/// weight of each point; density: divide by the total and the bin's volume. Otherwise, including
/// errors, like histogram; also Error unless there are D bins.
/// @{
AMBIT_API std::tuple<Tensor, std::vector<Tensor>> histogramdd(
    const Tensor& self, TensorList bins, std::optional<ArrayRef<double>> range = {},
    const Tensor& weight = {}, bool density = false);
AMBIT_API std::tuple<Tensor, std::vector<Tensor>> histogramdd(
    const Tensor& self, IntArrayRef bins, std::optional<ArrayRef<double>> range = {},
    const Tensor& weight = {}, bool density = false);
AMBIT_API std::tuple<Tensor, std::vector<Tensor>> histogramdd(
    const Tensor& self, int64_t bins, std::optional<ArrayRef<double>> range = {},
    const Tensor& weight = {}, bool density = false);
/// @}

/// Compute the q-quantiles along dim, or of all elements: the value at position q (n - 1) of the n
/// sorted elements, between two elements by interpolation: "linear", "lower", "higher", "midpoint",
/// or "nearest" (ties to the even position). q a number or a tensor [] or [Q] of self's dtype, in
/// [0, 1] -> self's shape without dim (keepdim: with size 1), after a leading dim Q if q has one.
/// NaN if any element is NaN. Floating point only. Waits for the device if q is a tensor. Errors:
/// also Error for q outside of [0, 1], another interpolation, and no elements. Gradient: self, q.
/// @{
AMBIT_API Tensor quantile(const Tensor& self, const Tensor& q, std::optional<int64_t> dim = {},
                          bool keepdim = false, std::string_view interpolation = "linear");
AMBIT_API Tensor quantile(const Tensor& self, double q, std::optional<int64_t> dim = {},
                          bool keepdim = false, std::string_view interpolation = "linear");
/// @}
/// As quantile(), but ignore NaN; NaN if all elements are NaN.
/// @{
AMBIT_API Tensor nanquantile(const Tensor& self, const Tensor& q, std::optional<int64_t> dim = {},
                             bool keepdim = false, std::string_view interpolation = "linear");
AMBIT_API Tensor nanquantile(const Tensor& self, double q, std::optional<int64_t> dim = {},
                             bool keepdim = false, std::string_view interpolation = "linear");
/// @}
/// Return true where an element is (with invert: is not) in test_elements: bool, of the shape of
/// elements. NaN is never in it. assume_unique is ignored. No gradient.
/// @{
AMBIT_API Tensor isin(const Tensor& elements, const Tensor& test_elements,
                      bool assume_unique = false, bool invert = false);
AMBIT_API Tensor isin(const Tensor& elements, const Scalar& test_element,
                      bool assume_unique = false, bool invert = false);
AMBIT_API Tensor isin(const Scalar& element, const Tensor& test_elements,
                      bool assume_unique = false, bool invert = false);
/// @}

}  // namespace ambit
