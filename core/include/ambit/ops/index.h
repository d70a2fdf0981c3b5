// Indexing: by position lists (index, index_put_) and by index tensors (gather and its kin).
// Errors of all: IndexError (an index out of range, named with its bounds), ShapeError, DTypeError.
#pragma once

#include <ambit/tensor.h>

namespace ambit {
namespace indexing {

struct NoneType {};
struct EllipsisType {};
inline constexpr NoneType None{};          ///< a new dim of size 1
inline constexpr EllipsisType Ellipsis{};  ///< as many full slices as needed

/// start:stop:step, each optional.
struct Slice {
  Slice() = default;
  Slice(NoneType) {}
  Slice(std::optional<int64_t> first, std::optional<int64_t> end = {}, int64_t by = 1)
      : start(first), stop(end), step(by) {}
  Slice(NoneType, std::optional<int64_t> end, int64_t by = 1) : stop(end), step(by) {}
  Slice(std::optional<int64_t> first, NoneType, int64_t by = 1) : start(first), step(by) {}
  Slice(NoneType, NoneType, int64_t by = 1) : step(by) {}
  std::optional<int64_t> start, stop;
  int64_t step = 1;
};

/// One entry of an index list.
class TensorIndex {
 public:
  enum class Kind : uint8_t { none, ellipsis, integer, boolean, slice, tensor };

  TensorIndex(NoneType) : kind_(Kind::none) {}
  TensorIndex(EllipsisType) : kind_(Kind::ellipsis) {}
  AMBIT_API TensorIndex(const char* dots);  ///< "..." only: Error otherwise
  template <std::integral I>
  requires(!std::same_as<I, bool>) TensorIndex(I i)
      : kind_(Kind::integer), integer_(static_cast<int64_t>(i)) {}
  TensorIndex(std::same_as<bool> auto b) : kind_(Kind::boolean), integer_(b) {}
  TensorIndex(Slice s) : kind_(Kind::slice), slice_(s) {}
  TensorIndex(Tensor t) : kind_(Kind::tensor), tensor_(std::move(t)) {}

  Kind kind() const { return kind_; }
  int64_t integer() const { return integer_; }
  const Slice& slice() const { return slice_; }
  const Tensor& tensor() const { return tensor_; }

 private:
  Kind kind_;
  int64_t integer_ = 0;
  Slice slice_;
  Tensor tensor_;
};

}  // namespace indexing

/// self[indices...] as in Python: integers, Slice, None and Ellipsis give a view, int64 and bool
/// tensors (on cpu or self's device) a copy. Gradient: self.
AMBIT_API Tensor index(const Tensor& self, std::initializer_list<indexing::TensorIndex> indices);
/// self[indices...] = value, broadcasting; `accumulate` adds instead. Gradient: self, value.
AMBIT_API const Tensor& index_put_(const Tensor& self,
                                   std::initializer_list<indexing::TensorIndex> indices,
                                   const Tensor& value, bool accumulate = false);
AMBIT_API const Tensor& index_put_(const Tensor& self,
                                   std::initializer_list<indexing::TensorIndex> indices,
                                   const Scalar& value);
/// The slices of dim that `index` [n] (int64 or int32) names. Gradient: self.
AMBIT_API Tensor index_select(const Tensor& self, int64_t dim, const Tensor& index);
/// out[i][j] = self[index[i][j]][j] for dim 0; int64 index, no broadcasting. Gradient: self.
AMBIT_API Tensor gather(const Tensor& self, int64_t dim, const Tensor& index);
/// Copy of self with self[index[i][j]][j] = src[i][j]. Gradient: self, src.
AMBIT_API Tensor scatter(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& src);
/// Copy of self with self[index[i][j]][j] += src[i][j]. Gradient: self, src.
AMBIT_API Tensor scatter_add(const Tensor& self, int64_t dim, const Tensor& index,
                             const Tensor& src);
AMBIT_API const Tensor& scatter_(const Tensor& self, int64_t dim, const Tensor& index,
                                 const Tensor& src);
AMBIT_API const Tensor& scatter_add_(const Tensor& self, int64_t dim, const Tensor& index,
                                     const Tensor& src);
/// The elements where mask (bool, broadcasting) is true, in one dim. Not on meta. Gradient: self.
AMBIT_API Tensor masked_select(const Tensor& self, const Tensor& mask);
/// Coordinates [n, dim] int64 of what is not zero. Not on meta.
AMBIT_API Tensor nonzero(const Tensor& self);
/// weight[indices]: rows of weight [V, D] for int64 indices of any shape. Rows of padding_idx (>=
/// 0) get no gradient. Gradient: weight.
AMBIT_API Tensor embedding(const Tensor& weight, const Tensor& indices, int64_t padding_idx = -1);
/// int64 classes -> [..., num_classes] of 0 and 1; -1 finds num_classes from the data.
AMBIT_API Tensor one_hot(const Tensor& self, int64_t num_classes = -1);

}  // namespace ambit
