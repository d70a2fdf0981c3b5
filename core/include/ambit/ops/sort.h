// Sorting and what follows from it: order statistics, distinct elements, places in sorted rows,
// counts. NaN counts as the largest number, whatever the order. Negative dims count from the end;
// a 0-dim tensor counts as one of one element. Indices are int64.
// Errors of all: IndexError (a dim out of range), ShapeError, DTypeError, DeviceMismatchError;
// Error for an undefined tensor. NotImplementedError on meta where the result's shape depends on
// data.
#pragma once

#include <ambit/tensor.h>

#include <concepts>
#include <string_view>

namespace ambit {

/// Sort along dim: values of self's dtype, and the indices along dim where they were. Equals stay
/// in their order, whether `stable` is asked for or not. Gradient: self, through the indices.
AMBIT_API std::tuple<Tensor, Tensor> sort(const Tensor& self, int64_t dim = -1,
                                          bool descending = false);
AMBIT_API std::tuple<Tensor, Tensor> sort(const Tensor& self, std::optional<bool> stable,
                                          int64_t dim = -1, bool descending = false);
/// Find the indices that sort self along dim, as the second of sort. No gradient.
AMBIT_API Tensor argsort(const Tensor& self, int64_t dim = -1, bool descending = false);
inline Tensor argsort(const Tensor& self, std::same_as<bool> auto /*stable*/, int64_t dim = -1,
                      bool descending = false) {
  return argsort(self, dim, descending);
}
/// Sort along the first dim: the first of sort(self, 0). Gradient: self.
AMBIT_API Tensor msort(const Tensor& self);
/// Find the k largest, or smallest, elements along dim, and where they are: of equals the first
/// ones, in the order of sort, whether `sorted` is asked for or not. 0 <= k <= size of dim, which
/// becomes k. Errors also: IndexError for another k. Gradient: self.
AMBIT_API std::tuple<Tensor, Tensor> topk(const Tensor& self, int64_t k, int64_t dim = -1,
                                          bool largest = true, bool sorted = true);
/// Find the k-th smallest element along dim, k from 1, and where it is. Errors also: IndexError for
/// another k than 1 .. size of dim. Gradient: self.
AMBIT_API std::tuple<Tensor, Tensor> kthvalue(const Tensor& self, int64_t k, int64_t dim = -1,
                                              bool keepdim = false);
/// Find the median, the lower one of two; NaN of no elements, and where any is NaN. Without dim of
/// all elements, []. Errors also: DTypeError for integers of no elements. Gradient: self.
AMBIT_API Tensor median(const Tensor& self);
/// Find the medians along dim and where they are. Errors also: IndexError where dim has size 0.
AMBIT_API std::tuple<Tensor, Tensor> median(const Tensor& self, int64_t dim, bool keepdim = false);
/// Find the median of what is not NaN, NaN where all are; else as median.
AMBIT_API Tensor nanmedian(const Tensor& self);
AMBIT_API std::tuple<Tensor, Tensor> nanmedian(const Tensor& self, int64_t dim,
                                               bool keepdim = false);
/// Find the most frequent element along dim, the smallest of equally frequent ones, and where it is
/// last; NaN counts as one, found where it is first. Errors also: IndexError where dim has size 0.
AMBIT_API std::tuple<Tensor, Tensor> mode(const Tensor& self, int64_t dim = -1,
                                          bool keepdim = false);

/// Find the distinct elements, sorted whether asked for or not: values [U] of self's dtype;
/// inverse, of self's shape, the place of each element among them; counts [U], how often each
/// occurs; int64, empty where not asked for. Each NaN is distinct. Waits for the device. No
/// gradient.
AMBIT_API std::tuple<Tensor, Tensor, Tensor> _unique2(const Tensor& self, bool sorted = true,
                                                      bool return_inverse = false,
                                                      bool return_counts = false);
AMBIT_API std::tuple<Tensor, Tensor> _unique(const Tensor& self, bool sorted = true,
                                             bool return_inverse = false);
/// Find the distinct slices along dim, in lexicographic order: [.., U, ..]; inverse [size of dim]
/// and counts [U] as of _unique2. No gradient. Errors also: ShapeError for slices of no elements.
AMBIT_API std::tuple<Tensor, Tensor, Tensor> unique_dim(const Tensor& self, int64_t dim,
                                                        bool sorted = true,
                                                        bool return_inverse = false,
                                                        bool return_counts = false);
/// Keep the first of each run of equal elements, or of equal slices along dim: results as of
/// _unique2, or of unique_dim, in the order in which they come. No gradient.
AMBIT_API std::tuple<Tensor, Tensor, Tensor> unique_consecutive(const Tensor& self,
                                                                bool return_inverse = false,
                                                                bool return_counts = false,
                                                                std::optional<int64_t> dim = {});
AMBIT_API std::tuple<Tensor, Tensor, Tensor> unique_dim_consecutive(const Tensor& self, int64_t dim,
                                                                    bool return_inverse = false,
                                                                    bool return_counts = false);

/// Find where each of self belongs in the last dim of sorted_sequence, so that it stays sorted: the
/// first place with sorted[i] >= self, or where `right` sorted[i] > self; NaN belongs at the end.
/// sorted_sequence [N], or [..., N] with the leading dims of self [..., M]; of one dtype, not bool.
/// out int64, or int32 where out_int32, of self's shape. side "left" or "right" says as `right`;
/// sorter, int64 of sorted_sequence's shape: the indices that sort it. Errors also: Error for a
/// side that contradicts `right`. No gradient.
AMBIT_API Tensor searchsorted(const Tensor& sorted_sequence, const Tensor& self,
                              bool out_int32 = false, bool right = false,
                              std::optional<std::string_view> side = {}, const Tensor& sorter = {});
AMBIT_API Tensor searchsorted(const Tensor& sorted_sequence, const Scalar& self,
                              bool out_int32 = false, bool right = false,
                              std::optional<std::string_view> side = {}, const Tensor& sorter = {});
/// Find the bucket of each of self between sorted boundaries [N], as searchsorted(boundaries,
/// self).
AMBIT_API Tensor bucketize(const Tensor& self, const Tensor& boundaries, bool out_int32 = false,
                           bool right = false);
AMBIT_API Tensor bucketize(const Scalar& self, const Tensor& boundaries, bool out_int32 = false,
                           bool right = false);
/// Count how often each of 0, 1, ... occurs in self [N], integers >= 0: [max + 1], at least
/// minlength; int64, or the sums of weights [N], float64 but of float32. Waits for the device. No
/// gradient. Errors also: Error for negative numbers or minlength.
AMBIT_API Tensor bincount(const Tensor& self, const Tensor& weights = {}, int64_t minlength = 0);
/// Count the elements in each of `bins` equal parts of [min, max], [bins] of self's dtype; of
/// self's extent where both are equal, and of 1 to either side of what has none. What is outside
/// counts nowhere. Floating point only. Waits for the device. No gradient. Errors also: Error for
/// bins <= 0, min > max or a range that is not finite.
AMBIT_API Tensor histc(const Tensor& self, int64_t bins = 100, const Scalar& min = 0,
                       const Scalar& max = 0);

/// Count the elements between bin_edges: (hist [bins], bin_edges [bins + 1]), both of self's dtype.
/// bins: how many equal parts `range` has, {least, most}, or of self's extent (of none: [0, 1]; a
/// range of one number x: [x - 1/2, x + 1/2]); or a tensor, the edges [bins + 1], ascending. The
/// last part has its upper edge, too; what is outside, and NaN, counts nowhere. weight, of self's
/// shape and dtype: how much each element counts; density: divided by the sum of all and the width.
/// Floating point only. Errors also: Error for no bins and a range that is not finite or falls. No
/// gradient.
AMBIT_API std::tuple<Tensor, Tensor> histogram(const Tensor& self, const Tensor& bins,
                                               const Tensor& weight = {}, bool density = false);
AMBIT_API std::tuple<Tensor, Tensor> histogram(const Tensor& self, int64_t bins = 100,
                                               std::optional<ArrayRef<double>> range = {},
                                               const Tensor& weight = {}, bool density = false);
/// Count the points of self [..., D] in a grid: (hist [bins of each dim], the bin_edges of each
/// dim). bins: how many equal parts each dim has, or one number for all; or its edges. range:
/// {least, most} of each dim, one behind the other, [2 D]; beside edges it says nothing. weight
/// [...]: how much each point counts; density: divided by the sum of all and the part's volume.
/// Else, errors too, as histogram; also Error for bins of another number than D.
AMBIT_API std::tuple<Tensor, std::vector<Tensor>> histogramdd(
    const Tensor& self, TensorList bins, std::optional<ArrayRef<double>> range = {},
    const Tensor& weight = {}, bool density = false);
AMBIT_API std::tuple<Tensor, std::vector<Tensor>> histogramdd(
    const Tensor& self, IntArrayRef bins, std::optional<ArrayRef<double>> range = {},
    const Tensor& weight = {}, bool density = false);
AMBIT_API std::tuple<Tensor, std::vector<Tensor>> histogramdd(
    const Tensor& self, int64_t bins, std::optional<ArrayRef<double>> range = {},
    const Tensor& weight = {}, bool density = false);

/// Find the q-quantiles along dim, or of all elements: what stands at q (n - 1) of the n sorted
/// ones, and between two by interpolation: "linear", "lower", "higher", "midpoint", or "nearest",
/// the even place of two as near. q a number or a tensor [] or [Q] of self's dtype, in [0, 1] ->
/// the shape of self without dim (keepdim: of size 1), behind Q where q has a dim. NaN where any
/// element is NaN. Floating point only. Waits for the device where q is a tensor. Errors also:
/// Error for q outside of [0, 1], for another interpolation, and for no elements. Gradient: self,
/// q.
AMBIT_API Tensor quantile(const Tensor& self, const Tensor& q, std::optional<int64_t> dim = {},
                          bool keepdim = false, std::string_view interpolation = "linear");
AMBIT_API Tensor quantile(const Tensor& self, double q, std::optional<int64_t> dim = {},
                          bool keepdim = false, std::string_view interpolation = "linear");
/// The same of what is not NaN; NaN where all are.
AMBIT_API Tensor nanquantile(const Tensor& self, const Tensor& q, std::optional<int64_t> dim = {},
                             bool keepdim = false, std::string_view interpolation = "linear");
AMBIT_API Tensor nanquantile(const Tensor& self, double q, std::optional<int64_t> dim = {},
                             bool keepdim = false, std::string_view interpolation = "linear");
/// Say of each element whether it is among test_elements, or, with invert, is not: bool, of the
/// shape of elements. NaN is among nothing. assume_unique changes nothing. No gradient.
AMBIT_API Tensor isin(const Tensor& elements, const Tensor& test_elements,
                      bool assume_unique = false, bool invert = false);
AMBIT_API Tensor isin(const Tensor& elements, const Scalar& test_element,
                      bool assume_unique = false, bool invert = false);
AMBIT_API Tensor isin(const Scalar& element, const Tensor& test_elements,
                      bool assume_unique = false, bool invert = false);

}  // namespace ambit
