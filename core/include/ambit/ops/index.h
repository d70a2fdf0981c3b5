// Indexing: by position lists (index, index_put_) and by index tensors (gather and its kin).
// Errors of all: IndexError (an index out of range, named with its bounds; of an index on a device
// that works behind the host it is thrown where somebody waits next), ShapeError, DTypeError,
// DeviceMismatchError; Error for an undefined tensor. In place (`name_`) self is returned;
// AutogradError for a leaf that requires grad, outside of NoGradGuard.
#pragma once

#include <ambit/tensor.h>

#include <limits>
#include <string_view>

namespace ambit {
namespace indexing {

/// No bound of a Slice, and a new dim of size 1.
struct NoneType {
  constexpr operator std::optional<int64_t>() const { return {}; }
};
struct EllipsisType {};
inline constexpr NoneType None{};
inline constexpr EllipsisType Ellipsis{};  ///< as many full slices as needed

/// start:stop:step as in Python, each optional; negative ones count from the end, step is >= 1.
class Slice {
 public:
  Slice(std::optional<int64_t> start = {}, std::optional<int64_t> stop = {},
        std::optional<int64_t> step = {})
      : start_(start.value_or(0)),
        stop_(stop.value_or(std::numeric_limits<int64_t>::max())),
        step_(step.value_or(1)) {}
  int64_t start() const { return start_; }
  /// The largest int64 where there is no bound.
  int64_t stop() const { return stop_; }
  int64_t step() const { return step_; }

 private:
  int64_t start_, stop_, step_;
};

/// One entry of an index list, as index() takes it.
class TensorIndex {
 public:
  enum class Kind : uint8_t { none, ellipsis, integer, boolean, slice, tensor };

  TensorIndex(NoneType) : kind_(Kind::none) {}
  TensorIndex(EllipsisType) : kind_(Kind::ellipsis) {}
  AMBIT_API TensorIndex(const char* dots);  ///< "..." only: Error otherwise
  template <std::integral I>
  requires(!std::same_as<I, bool>) TensorIndex(I i)
      : kind_(Kind::integer), integer_(static_cast<int64_t>(i)) {}
  /// A new dim, of size 1 if true, else 0; the result is a copy.
  TensorIndex(std::same_as<bool> auto b) : kind_(Kind::boolean), integer_(b) {}
  TensorIndex(Slice s) : kind_(Kind::slice), slice_(s) {}
  TensorIndex(Tensor t) : kind_(Kind::tensor), tensor_(std::move(t)) {}

  Kind kind() const { return kind_; }
  bool is_none() const { return kind_ == Kind::none; }
  bool is_ellipsis() const { return kind_ == Kind::ellipsis; }
  bool is_integer() const { return kind_ == Kind::integer; }
  bool is_boolean() const { return kind_ == Kind::boolean; }
  bool is_slice() const { return kind_ == Kind::slice; }
  bool is_tensor() const { return kind_ == Kind::tensor; }
  int64_t integer() const { return integer_; }
  bool boolean() const { return integer_ != 0; }
  const Slice& slice() const { return slice_; }
  const Tensor& tensor() const { return tensor_; }

 private:
  Kind kind_;
  int64_t integer_ = 0;
  Slice slice_;
  Tensor tensor_;
};

}  // namespace indexing

/// Return self[indices...] as numpy does, dim by dim; dims not named are taken whole.
///   integer: that index, the dim goes; Slice: that range; None: a new dim of size 1; Ellipsis or
///   "...": as many whole dims as needed; these give a view
///   int64 or int32 tensors, which broadcast, and bool tensors, each for as many dims as it has and
///   of their sizes: the elements they name, as a copy. The dims so indexed become one block of the
///   tensors' shape, in their place where they are neighbours, else in front
///   uint8 tensors are masks, as bool ones, which is how they were written before there was bool
/// In the form that takes tensors alone, one that is not there stands for a whole dim.
/// Index tensors are on cpu or self's device; negative indices count from the end. One without dims
/// counts as its number. That, and masks, wait for the device. Gradient: self.
/// Source: numpy.org/doc/stable/user/basics.indexing.html.
AMBIT_API Tensor index(const Tensor& self, std::initializer_list<indexing::TensorIndex> indices);
AMBIT_API Tensor index(const Tensor& self, const std::vector<indexing::TensorIndex>& indices);
AMBIT_API Tensor index(const Tensor& self, const std::vector<std::optional<Tensor>>& indices);
/// Assign self[indices...] = value, which broadcasts, its leading dims of size 1 beyond theirs left
/// out; `accumulate` adds to what is there, once for each time that an element is named, else which
/// of several values wins is not defined. value has self's dtype, but where no tensor is among the
/// indices, or where it has no dims, it is converted, and may be on cpu in the latter case.
/// Gradient: self, value.
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
/// Copy self and assign there, as index_put_.
AMBIT_API Tensor index_put(const Tensor& self, const std::vector<std::optional<Tensor>>& indices,
                           const Tensor& value, bool accumulate = false);
/// Copy the slices of dim that `index` names: out[.., i, ..] = self[.., index[i], ..].
/// index [n] or [], int64 or int32, in [0, size): out has size n at dim. Gradient: self.
AMBIT_API Tensor index_select(const Tensor& self, int64_t dim, const Tensor& index);
/// Pick an element along dim for each of index.
///   out[i][j] = self[index[i][j]][j] for dim 0, self[i][index[i][j]] for dim 1, and so on
/// index int64 in [0, size), with as many dims as self and nowhere larger but along dim; out has
/// its shape. Nothing broadcasts. Gradient: self, summed where an element is picked twice;
/// sparse_grad changes nothing.
AMBIT_API Tensor gather(const Tensor& self, int64_t dim, const Tensor& index,
                        bool sparse_grad = false);
/// Copy self and write src where index says, the opposite of gather.
///   out[index[i][j]][j] = src[i][j] for dim 0, and so on
/// index as in gather; src of self's dtype, nowhere smaller than index, what is beyond it is not
/// used. Which of several values for one element wins is not defined. Gradient: self where nothing
/// was written, src.
AMBIT_API Tensor scatter(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& src);
/// Copy self and add src where index says: out[index[i][j]][j] += src[i][j] for dim 0, once for
/// each that names the element. Shapes as scatter. Gradient: self, src.
AMBIT_API Tensor scatter_add(const Tensor& self, int64_t dim, const Tensor& index,
                             const Tensor& src);
/// Do as scatter in self, which shares no memory with src and index (else Error).
AMBIT_API const Tensor& scatter_(const Tensor& self, int64_t dim, const Tensor& index,
                                 const Tensor& src);
/// Do as scatter_add in self, which shares no memory with src and index (else Error).
AMBIT_API const Tensor& scatter_add_(const Tensor& self, int64_t dim, const Tensor& index,
                                     const Tensor& src);
/// Write one number where index says, as scatter writes src. Gradient: self where it was not
/// written.
AMBIT_API Tensor scatter(const Tensor& self, int64_t dim, const Tensor& index, const Scalar& value);
AMBIT_API const Tensor& scatter_(const Tensor& self, int64_t dim, const Tensor& index,
                                 const Scalar& value);
/// Add src, or a number, there (reduce "add"), or multiply by it ("multiply"), once for each that
/// names the element. Errors also: Error for another reduce. Gradient: self, src.
AMBIT_API Tensor scatter(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& src,
                         std::string_view reduce);
AMBIT_API Tensor scatter(const Tensor& self, int64_t dim, const Tensor& index, const Scalar& value,
                         std::string_view reduce);
AMBIT_API const Tensor& scatter_(const Tensor& self, int64_t dim, const Tensor& index,
                                 const Tensor& src, std::string_view reduce);
AMBIT_API const Tensor& scatter_(const Tensor& self, int64_t dim, const Tensor& index,
                                 const Scalar& value, std::string_view reduce);
/// Copy self and reduce there: each element becomes the "sum", "prod", "mean", "amax" or "amin" of
/// itself and what of src names it, or without include_self of the latter alone; what nothing names
/// stays. Integer means are rounded down. Shapes as scatter. Errors also: Error for another reduce.
/// Gradient: self, src; of amax and amin shared equally among equals.
AMBIT_API Tensor scatter_reduce(const Tensor& self, int64_t dim, const Tensor& index,
                                const Tensor& src, std::string_view reduce,
                                bool include_self = true);
/// Do as scatter_reduce in self, which shares no memory with src and index (else Error).
AMBIT_API const Tensor& scatter_reduce_(const Tensor& self, int64_t dim, const Tensor& index,
                                        const Tensor& src, std::string_view reduce,
                                        bool include_self = true);
/// Copy self and add the slices of alpha * source at index of dim, as index_select names them, once
/// for each. index [n] or [], int64 or int32, in [0, size); source has n slices and self's dtype.
/// Gradient: self, source.
AMBIT_API Tensor index_add(const Tensor& self, int64_t dim, const Tensor& index,
                           const Tensor& source, const Scalar& alpha = 1);
AMBIT_API const Tensor& index_add_(const Tensor& self, int64_t dim, const Tensor& index,
                                   const Tensor& source, const Scalar& alpha = 1);
/// Copy self and write the slices of source there, as index_add adds them; which of several for one
/// place wins is not defined. Gradient: self where it was not written, source.
AMBIT_API Tensor index_copy(const Tensor& self, int64_t dim, const Tensor& index,
                            const Tensor& source);
AMBIT_API const Tensor& index_copy_(const Tensor& self, int64_t dim, const Tensor& index,
                                    const Tensor& source);
/// Copy self and fill the slices at index of dim, which counts from the end where negative, with a
/// number, or a tensor without dims. Gradient: self where it was not written, value.
AMBIT_API Tensor index_fill(const Tensor& self, int64_t dim, const Tensor& index,
                            const Scalar& value);
AMBIT_API Tensor index_fill(const Tensor& self, int64_t dim, const Tensor& index,
                            const Tensor& value);
AMBIT_API const Tensor& index_fill_(const Tensor& self, int64_t dim, const Tensor& index,
                                    const Scalar& value);
AMBIT_API const Tensor& index_fill_(const Tensor& self, int64_t dim, const Tensor& index,
                                    const Tensor& value);
/// Reduce segments of `axis`, one after the other, each to its "sum", "prod", "mean", "max" or
/// "min": data [B...,N,rest...] -> [B...,S,rest...], `axis` where N is. lengths [B...,S] of int64
/// or int32 sum up to N, or are fewer if `unsafe`; or offsets [B...,S+1] are where segments begin
/// and the last one ends. What is reduced begins with `initial`; of an empty segment without one it
/// is 0, 1, NaN, -inf, inf. Of floats. Errors also: Error for neither and for both;
/// NotImplementedError for indices; IndexError for lengths or offsets that leave N. Waits for the
/// device to check that. Gradient: data; of max and min shared equally among equals.
AMBIT_API Tensor segment_reduce(const Tensor& data, std::string_view reduce,
                                const std::optional<Tensor>& lengths = {},
                                const std::optional<Tensor>& indices = {},
                                const std::optional<Tensor>& offsets = {}, int64_t axis = 0,
                                bool unsafe = false, const std::optional<Scalar>& initial = {});
/// Copy self and reduce the slices of source there: "prod", "mean", "amax" or "amin", as
/// scatter_reduce; index and source as index_add. Gradient: self, source.
AMBIT_API Tensor index_reduce(const Tensor& self, int64_t dim, const Tensor& index,
                              const Tensor& source, std::string_view reduce,
                              bool include_self = true);
AMBIT_API const Tensor& index_reduce_(const Tensor& self, int64_t dim, const Tensor& index,
                                      const Tensor& source, std::string_view reduce,
                                      bool include_self = true);
/// Pick elements of self, counted in row-major order: out[i] = self.flatten()[index[i]]. index
/// int64, in [-n, n) for n elements; out has its shape. Gradient: self.
AMBIT_API Tensor take(const Tensor& self, const Tensor& index);
/// Copy self and write source, of as many elements and self's dtype, where take would read; or add,
/// once for each that names the element. Gradient: self, source.
AMBIT_API Tensor put(const Tensor& self, const Tensor& index, const Tensor& source,
                     bool accumulate = false);
AMBIT_API const Tensor& put_(const Tensor& self, const Tensor& index, const Tensor& source,
                             bool accumulate = false);
/// Pick along dim for each of indices, int64, which broadcasts with self but along dim; gather does
/// the rest. Without dim from self in row-major order. Gradient: self.
AMBIT_API Tensor take_along_dim(const Tensor& self, const Tensor& indices,
                                std::optional<int64_t> dim = {});
/// Copy the elements where mask is true, in row-major order, into one dim. mask bool or uint8; it
/// and self broadcast. Waits for the device; on meta NotImplementedError. Gradient: self.
AMBIT_API Tensor masked_select(const Tensor& self, const Tensor& mask);
/// Copy self and write the first elements of source, in row-major order, where mask is true. mask
/// bool or uint8; it and self broadcast. source of self's dtype, with as many elements at least
/// (else Error). Waits for the device. Gradient: self where it was not written, source.
AMBIT_API Tensor masked_scatter(const Tensor& self, const Tensor& mask, const Tensor& source);
/// The same in self, to whose shape mask broadcasts.
AMBIT_API const Tensor& masked_scatter_(const Tensor& self, const Tensor& mask,
                                        const Tensor& source);
/// Return the coordinates of the n elements that are not 0: int64 [n, dims of self], row-major.
/// Waits for the device; on meta NotImplementedError. No gradient.
AMBIT_API Tensor nonzero(const Tensor& self);
/// The same as nonzero, [n, dims of self].
AMBIT_API Tensor argwhere(const Tensor& self);
/// The same as one tensor [n] for each dim, as index takes them; of 0-dim self one.
AMBIT_API std::vector<Tensor> nonzero_numpy(const Tensor& self);
/// The same as nonzero_numpy.
AMBIT_API std::vector<Tensor> where(const Tensor& condition);
/// Write a number along the diagonal, of at least 2 dims, all of one size if more; `wrap` begins
/// another one below where a matrix is tall. self is returned.
AMBIT_API const Tensor& fill_diagonal_(const Tensor& self, const Scalar& fill_value,
                                       bool wrap = false);
/// Copy self and write src, of the very shape, into what select, slice, diagonal or as_strided give
/// of it. Gradient: self where it was not written, src.
AMBIT_API Tensor select_scatter(const Tensor& self, const Tensor& src, int64_t dim, int64_t index);
AMBIT_API Tensor slice_scatter(const Tensor& self, const Tensor& src, int64_t dim = 0,
                               std::optional<int64_t> start = {}, std::optional<int64_t> end = {},
                               int64_t step = 1);
AMBIT_API Tensor diagonal_scatter(const Tensor& self, const Tensor& src, int64_t offset = 0,
                                  int64_t dim1 = 0, int64_t dim2 = 1);
AMBIT_API Tensor as_strided_scatter(const Tensor& self, const Tensor& src, IntArrayRef size,
                                    IntArrayRef stride, std::optional<int64_t> storage_offset = {});
/// Look rows up: out[..., :] = weight[indices[...], :].
/// weight [V,D], indices int64 or int32 [...] in [0, V) -> out [...,D]. The row padding_idx, -1:
/// none, is read as the others and gets no gradient. Gradient: weight. Source: torch.nn.Embedding.
AMBIT_API Tensor embedding(const Tensor& weight, const Tensor& indices, int64_t padding_idx = -1);
/// Write classes as rows with a single 1: out[..., c] = (self[...] == c), int64.
/// self int64 [...] in [0, num_classes) -> [..., num_classes]; -1: the largest class + 1, for which
/// it waits for the device, and which meta and no elements have not. No gradient.
AMBIT_API Tensor one_hot(const Tensor& self, int64_t num_classes = -1);

}  // namespace ambit
