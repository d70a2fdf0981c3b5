// Indexing by index lists (index, index_put_) and by index tensors (gather and similar). Errors of
// all: IndexError for an index out of range, naming it and the bounds (on asynchronous devices it
// is thrown at the next synchronization); ShapeError, DTypeError, DeviceMismatchError; Error for an
// undefined tensor. In place (`name_`), self is returned; AutogradError for a leaf that requires
// grad, outside of NoGradGuard.
#pragma once

#include <ambit/tensor.h>

#include <limits>
#include <string_view>

namespace ambit {
namespace indexing {

/// The type of None.
struct NoneType {
  /// No bound, as an argument of Slice.
  constexpr operator std::optional<int64_t>() const { return {}; }
};
/// The type of Ellipsis.
struct EllipsisType {};
/// An omitted bound of a Slice; in an index list, a new dim of size 1.
inline constexpr NoneType None{};
inline constexpr EllipsisType Ellipsis{};  ///< as many full slices as needed

/// start:stop:step as in Python, each optional; negative ones count from the end; step >= 1.
class Slice {
 public:
  /// Omitted bounds select to the ends; default step: 1.
  Slice(std::optional<int64_t> start = {}, std::optional<int64_t> stop = {},
        std::optional<int64_t> step = {})
      : start_(start.value_or(0)),
        stop_(stop.value_or(std::numeric_limits<int64_t>::max())),
        step_(step.value_or(1)) {}
  /// The first index; 0 if omitted.
  int64_t start() const { return start_; }
  /// The first index that is not selected; the largest int64 if omitted.
  int64_t stop() const { return stop_; }
  /// The distance between selected indices. Not checked here: index() throws Error for step < 1.
  int64_t step() const { return step_; }

 private:
  int64_t start_, stop_, step_;
};

/// One entry of an index list.
class TensorIndex {
 public:
  /// The type of an entry.
  enum class Kind : uint8_t {
    none,      ///< a new dim of size 1
    ellipsis,  ///< as many whole dims as needed
    integer,   ///< one index; the dim is removed
    boolean,   ///< a new dim of size 1 or 0
    slice,     ///< a range of indices
    tensor,    ///< a tensor of indices, or a mask
  };

  /// The conversions of the entries of an index list; index() lists the effect of each.
  /// @{
  TensorIndex(NoneType) : kind_(Kind::none) {}
  TensorIndex(EllipsisType) : kind_(Kind::ellipsis) {}
  AMBIT_API TensorIndex(const char* dots);  ///< Ellipsis. Errors: Error for another text than "..."
  template <std::integral I>
  requires(!std::same_as<I, bool>) TensorIndex(I i)
      : kind_(Kind::integer), integer_(static_cast<int64_t>(i)) {}
  /// Adds a dim of size 1 if true, 0 if false; the result is a copy.
  TensorIndex(std::same_as<bool> auto b) : kind_(Kind::boolean), integer_(b) {}
  TensorIndex(Slice s) : kind_(Kind::slice), slice_(s) {}
  TensorIndex(Tensor t) : kind_(Kind::tensor), tensor_(std::move(t)) {}
  /// @}

  /// Return the type of the entry; is_...() compare it.
  /// @{
  Kind kind() const { return kind_; }
  bool is_none() const { return kind_ == Kind::none; }
  bool is_ellipsis() const { return kind_ == Kind::ellipsis; }
  bool is_integer() const { return kind_ == Kind::integer; }
  bool is_boolean() const { return kind_ == Kind::boolean; }
  bool is_slice() const { return kind_ == Kind::slice; }
  bool is_tensor() const { return kind_ == Kind::tensor; }
  /// @}
  /// Return the value of an entry of this kind; for another kind 0, false, all or undefined.
  /// @{
  int64_t integer() const { return integer_; }
  bool boolean() const { return integer_ != 0; }
  const Slice& slice() const { return slice_; }
  const Tensor& tensor() const { return tensor_; }
  /// @}

 private:
  Kind kind_;
  int64_t integer_ = 0;
  Slice slice_;
  Tensor tensor_;
};

}  // namespace indexing

/// Return self[indices...] like numpy, dim by dim; unnamed dims are kept whole.
///   integer: select that index, removing the dim; Slice: that range; None: a new dim of size 1;
///   Ellipsis or "...": as many whole dims as needed; these give a view
///   int64 or int32 tensors, which broadcast, and bool tensors, each indexing as many dims as it
///   has, with equal sizes: copy the selected elements. The indexed dims become the dims of the
///   broadcast indices, in their place if they are adjacent, else at the front
///   uint8 tensors are masks like bool ones (deprecated)
/// In the overload with optional tensors, nullopt is a whole dim. Index tensors are on cpu or
/// self's device; negative indices count from the end. A 0-dim index tensor acts as its number;
/// such indices and masks wait for the device. Gradient: self.
/// Source: numpy.org/doc/stable/user/basics.indexing.html.
/// @{
AMBIT_API Tensor index(const Tensor& self, std::initializer_list<indexing::TensorIndex> indices);
AMBIT_API Tensor index(const Tensor& self, const std::vector<indexing::TensorIndex>& indices);
AMBIT_API Tensor index(const Tensor& self, const std::vector<std::optional<Tensor>>& indices);
/// @}
/// Assign self[indices...] = value, which broadcasts; extra leading dims of size 1 are dropped.
/// `accumulate`: add, once for each occurrence of an element; otherwise the result for duplicate
/// indices is undefined. value has self's dtype; it is converted if there is no index tensor or
/// value is 0-dim, in which case it may also be on cpu. Gradient: self, value.
/// @{
AMBIT_API const Tensor& index_put_(const Tensor& self,
                                   std::initializer_list<indexing::TensorIndex> indices,
                                   const Tensor& value, bool accumulate = false);
AMBIT_API const Tensor& index_put_(const Tensor& self,
                                   std::initializer_list<indexing::TensorIndex> indices,
                                   const Scalar& value);
AMBIT_API const Tensor& index_put_(const Tensor& self,
                                   const std::vector<indexing::TensorIndex>& indices,
                                   const Tensor& value, bool accumulate = false);
AMBIT_API const Tensor& index_put_(const Tensor& self,
                                   const std::vector<indexing::TensorIndex>& indices,
                                   const Scalar& value);
AMBIT_API const Tensor& index_put_(const Tensor& self,
                                   const std::vector<std::optional<Tensor>>& indices,
                                   const Tensor& value, bool accumulate = false);
/// @}
/// Copy self and assign like index_put_.
AMBIT_API Tensor index_put(const Tensor& self, const std::vector<std::optional<Tensor>>& indices,
                           const Tensor& value, bool accumulate = false);
/// Select slices along dim by `index`: out[.., i, ..] = self[.., index[i], ..].
/// index [n] or [], int64 or int32, in [0, size): out has size n at dim. Gradient: self.
AMBIT_API Tensor index_select(const Tensor& self, int64_t dim, const Tensor& index);
/// Select one element along dim for each element of index.
///   out[i][j] = self[index[i][j]][j] for dim 0, self[i][index[i][j]] for dim 1, and so on
/// index int64 or int32, in [0, size), with as many dims as self and not larger than self except
/// along dim; out has index's shape. No broadcasting. Gradient: self, summed for duplicate indices;
/// sparse_grad is ignored.
AMBIT_API Tensor gather(const Tensor& self, int64_t dim, const Tensor& index,
                        bool sparse_grad = false);
/// Copy self and write src at the positions of index, the inverse of gather.
///   out[index[i][j]][j] = src[i][j] for dim 0, and so on
/// index as in gather; src of self's dtype, in no dim smaller than index; its elements beyond index
/// are not used. For duplicate indices the result is undefined. Gradient: src, and self where
/// nothing was written.
AMBIT_API Tensor scatter(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& src);
/// Copy self and add src at the positions of index: out[index[i][j]][j] += src[i][j] for dim 0,
/// once for each index. Shapes as scatter. Gradient: self, src.
AMBIT_API Tensor scatter_add(const Tensor& self, int64_t dim, const Tensor& index,
                             const Tensor& src);
/// Same as scatter, in place. self must share no memory with src and index (else Error).
AMBIT_API const Tensor& scatter_(const Tensor& self, int64_t dim, const Tensor& index,
                                 const Tensor& src);
/// Same as scatter_add, in place. self must share no memory with src and index (else Error).
AMBIT_API const Tensor& scatter_add_(const Tensor& self, int64_t dim, const Tensor& index,
                                     const Tensor& src);
/// Write one number at the positions of index. Gradient: self where it was not written.
/// @{
AMBIT_API Tensor scatter(const Tensor& self, int64_t dim, const Tensor& index, const Scalar& value);
AMBIT_API const Tensor& scatter_(const Tensor& self, int64_t dim, const Tensor& index,
                                 const Scalar& value);
/// @}
/// Add src or a number at the positions of index (reduce "add"), or multiply by it ("multiply"),
/// once for each index. Errors: also Error for any other reduce. Gradient: self, src.
/// @{
AMBIT_API Tensor scatter(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& src,
                         std::string_view reduce);
AMBIT_API Tensor scatter(const Tensor& self, int64_t dim, const Tensor& index, const Scalar& value,
                         std::string_view reduce);
AMBIT_API const Tensor& scatter_(const Tensor& self, int64_t dim, const Tensor& index,
                                 const Tensor& src, std::string_view reduce);
AMBIT_API const Tensor& scatter_(const Tensor& self, int64_t dim, const Tensor& index,
                                 const Scalar& value, std::string_view reduce);
/// @}
/// Copy self and reduce: each element becomes the "sum", "prod", "mean", "amax" or "amin" of itself
/// and the elements of src with its index; without include_self, of these elements of src only.
/// Elements without an index are unchanged. Integer means are rounded down. Shapes as scatter.
/// Errors: also Error for any other reduce. Gradient: self, src; for amax and amin shared equally
/// among ties.
AMBIT_API Tensor scatter_reduce(const Tensor& self, int64_t dim, const Tensor& index,
                                const Tensor& src, std::string_view reduce,
                                bool include_self = true);
/// Same as scatter_reduce, in place. self must share no memory with src and index (else Error).
AMBIT_API const Tensor& scatter_reduce_(const Tensor& self, int64_t dim, const Tensor& index,
                                        const Tensor& src, std::string_view reduce,
                                        bool include_self = true);
/// Copy self and add alpha * source to the slices `index` of dim, once for each index. index [n] or
/// [], int64 or int32, in [0, size); source has n slices and self's dtype. Gradient: self, source.
/// @{
AMBIT_API Tensor index_add(const Tensor& self, int64_t dim, const Tensor& index,
                           const Tensor& source, const Scalar& alpha = 1);
AMBIT_API const Tensor& index_add_(const Tensor& self, int64_t dim, const Tensor& index,
                                   const Tensor& source, const Scalar& alpha = 1);
/// @}
/// Copy self and write source to the slices `index` of dim; for duplicate indices the result is
/// undefined. Gradient: source, and self where it was not written.
/// @{
AMBIT_API Tensor index_copy(const Tensor& self, int64_t dim, const Tensor& index,
                            const Tensor& source);
AMBIT_API const Tensor& index_copy_(const Tensor& self, int64_t dim, const Tensor& index,
                                    const Tensor& source);
/// @}
/// Copy self and fill the slices `index` of dim (negative indices count from the end) with a number
/// or a 0-dim tensor. Gradient: value, and self where it was not written.
/// @{
AMBIT_API Tensor index_fill(const Tensor& self, int64_t dim, const Tensor& index,
                            const Scalar& value);
AMBIT_API Tensor index_fill(const Tensor& self, int64_t dim, const Tensor& index,
                            const Tensor& value);
AMBIT_API const Tensor& index_fill_(const Tensor& self, int64_t dim, const Tensor& index,
                                    const Scalar& value);
AMBIT_API const Tensor& index_fill_(const Tensor& self, int64_t dim, const Tensor& index,
                                    const Tensor& value);
/// @}
/// Reduce consecutive segments of `axis` to their "sum", "prod", "mean", "max" or "min": data
/// [B...,N,rest...] -> [B...,S,rest...], with `axis` at N. lengths [B...,S], int64 or int32, sum to
/// N, or to less if `unsafe`; or offsets [B...,S+1] are the segments' starts and the end of the
/// last one. `initial` is the initial value; without it an empty segment gives 0, 1, NaN, -inf,
/// inf. Floats only. Errors: also Error unless exactly one of lengths and offsets is given;
/// NotImplementedError for indices; IndexError for lengths or offsets out of range, for which it
/// waits for the device. Gradient: data; for max and min shared equally among ties.
AMBIT_API Tensor segment_reduce(const Tensor& data, std::string_view reduce,
                                const std::optional<Tensor>& lengths = {},
                                const std::optional<Tensor>& indices = {},
                                const std::optional<Tensor>& offsets = {}, int64_t axis = 0,
                                bool unsafe = false, const std::optional<Scalar>& initial = {});
/// Copy self and reduce with the slices of source: "prod", "mean", "amax" or "amin", like
/// scatter_reduce; index and source as in index_add. Gradient: self, source.
/// @{
AMBIT_API Tensor index_reduce(const Tensor& self, int64_t dim, const Tensor& index,
                              const Tensor& source, std::string_view reduce,
                              bool include_self = true);
AMBIT_API const Tensor& index_reduce_(const Tensor& self, int64_t dim, const Tensor& index,
                                      const Tensor& source, std::string_view reduce,
                                      bool include_self = true);
/// @}
/// Select elements of self by row-major position: out[i] = self.flatten()[index[i]]. index int64,
/// in [-n, n) for n elements; out has index's shape. Gradient: self.
AMBIT_API Tensor take(const Tensor& self, const Tensor& index);
/// Copy self and write source (as many elements as index, self's dtype) where take would read, or
/// with `accumulate` add, once for each index. Gradient: self, source.
/// @{
AMBIT_API Tensor put(const Tensor& self, const Tensor& index, const Tensor& source,
                     bool accumulate = false);
AMBIT_API const Tensor& put_(const Tensor& self, const Tensor& index, const Tensor& source,
                             bool accumulate = false);
/// @}
/// Same as gather, after broadcasting indices (int64) and self in all dims but dim; negative
/// indices count from the end. Without dim, on the flattened self, with indices from 0. Gradient:
/// self.
AMBIT_API Tensor take_along_dim(const Tensor& self, const Tensor& indices,
                                std::optional<int64_t> dim = {});
/// Copy the elements where mask is true, in row-major order, into one dim. mask bool or uint8; mask
/// and self broadcast. Waits for the device; NotImplementedError on meta. Gradient: self.
AMBIT_API Tensor masked_select(const Tensor& self, const Tensor& mask);
/// Copy self and write the first elements of source, in row-major order, where mask is true. mask
/// bool or uint8; mask and self broadcast. source has self's dtype and enough elements (else
/// Error). Waits for the device. Gradient: source, and self where it was not written.
AMBIT_API Tensor masked_scatter(const Tensor& self, const Tensor& mask, const Tensor& source);
/// As above, but in place; mask broadcasts to self's shape.
AMBIT_API const Tensor& masked_scatter_(const Tensor& self, const Tensor& mask,
                                        const Tensor& source);
/// Return the coordinates of the n non-zero elements: int64 [n, dims of self], row-major. Waits for
/// the device; NotImplementedError on meta. No gradient.
AMBIT_API Tensor nonzero(const Tensor& self);
/// Return the first `size` of these coordinates, int64 [size, dims of self], followed by rows of
/// fill_value if there are fewer. Waits for the device. Errors: also ShapeError for size < 0. No
/// gradient.
AMBIT_API Tensor nonzero_static(const Tensor& self, int64_t size, int64_t fill_value = -1);
/// Same as nonzero.
AMBIT_API Tensor argwhere(const Tensor& self);
/// Same as nonzero, as one tensor [n] for each dim, usable as indices; one for 0-dim self.
AMBIT_API std::vector<Tensor> nonzero_numpy(const Tensor& self);
/// Same as nonzero_numpy.
AMBIT_API std::vector<Tensor> where(const Tensor& condition);
/// Write a number along the diagonal of a tensor with at least 2 dims, all of one size if more than
/// 2; `wrap` continues the diagonal below in a tall matrix. Return self.
AMBIT_API const Tensor& fill_diagonal_(const Tensor& self, const Scalar& fill_value,
                                       bool wrap = false);
/// Copy self and write src into the part that select, slice, diagonal or as_strided returns, of the
/// same shape. Gradient: src, and self where it was not written.
/// @{
AMBIT_API Tensor select_scatter(const Tensor& self, const Tensor& src, int64_t dim, int64_t index);
AMBIT_API Tensor slice_scatter(const Tensor& self, const Tensor& src, int64_t dim = 0,
                               std::optional<int64_t> start = {}, std::optional<int64_t> end = {},
                               int64_t step = 1);
AMBIT_API Tensor diagonal_scatter(const Tensor& self, const Tensor& src, int64_t offset = 0,
                                  int64_t dim1 = 0, int64_t dim2 = 1);
AMBIT_API Tensor as_strided_scatter(const Tensor& self, const Tensor& src, IntArrayRef size,
                                    IntArrayRef stride, std::optional<int64_t> storage_offset = {});
/// @}
/// Look up rows: out[..., :] = weight[indices[...], :].
/// weight [V,D], indices int64 or int32 [...] in [0, V) -> out [...,D]. Row padding_idx (-1: none)
/// gets no gradient. Gradient: weight. Source: torch.nn.Embedding.
AMBIT_API Tensor embedding(const Tensor& weight, const Tensor& indices, int64_t padding_idx = -1);
/// Return one-hot rows: out[..., c] = (self[...] == c), int64.
/// self int64 [...] in [0, num_classes) -> [..., num_classes]; -1: the largest class + 1, which
/// waits for the device and fails on meta and for no elements. No gradient.
AMBIT_API Tensor one_hot(const Tensor& self, int64_t num_classes = -1);

}  // namespace ambit
