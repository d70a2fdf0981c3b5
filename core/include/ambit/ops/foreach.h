// libtorch's functions of lists: the i-th result is function(self[i], ...). The lists have one
// length, 1 or more; scalars has a number for each tensor. In place (`name_`), nothing is returned
// or changed if any of the calls would be refused; name_out() writes into the tensors of out, as
// out.h says. Errors of all: Error for lists of different lengths and for undefined tensors; those
// of the functions that are called, whose messages may name these. Gradients: those of the
// functions.
#pragma once

#include <ambit/ops/out.h>
#include <ambit/tensor.h>

#include <initializer_list>
#include <optional>
#include <utility>
#include <vector>

namespace ambit {

/// A non-owning list of numbers, which one number does not convert to: use it for parameters, never
/// store it.
class ScalarList : public ArrayRef<Scalar> {
 public:
  /// A view of the numbers, which must outlive the list; no numbers: empty.
  /// @{
  ScalarList() = default;
  ScalarList(ArrayRef<Scalar> list) : ArrayRef(list) {}
  ScalarList(const std::vector<Scalar>& v) : ArrayRef(v) {}
  ScalarList(std::initializer_list<Scalar> l) : ArrayRef(l) {}
  /// @}
};

// clang-format off
/// Functions of one tensor; row(name).
#define AMBIT_FOREACH_UNARY(row)                                                                  \
  row(abs) row(acos) row(asin) row(atan) row(ceil) row(cos) row(cosh) row(erf) row(erfc) row(exp) \
  row(expm1) row(floor) row(frac) row(lgamma) row(log) row(log10) row(log1p) row(log2) row(neg)   \
  row(reciprocal) row(round) row(rsqrt) row(sigmoid) row(sign) row(sin) row(sinh) row(sqrt)       \
  row(tan) row(tanh) row(trunc)

/// Functions of a tensor and a number or a tensor; row(name).
#define AMBIT_FOREACH_BINARY(row)                                                                 \
  row(mul) row(div) row(pow) row(clamp_min) row(clamp_max) row(minimum) row(maximum)
// clang-format on

#define AMBIT_FOREACH(name)                                       \
  /** Apply name to each tensor. */                               \
  AMBIT_API std::vector<Tensor> _foreach_##name(TensorList self); \
  /** Apply name to each tensor in place. */                      \
  AMBIT_API void _foreach_##name##_(TensorList self);
AMBIT_FOREACH_UNARY(AMBIT_FOREACH)
#undef AMBIT_FOREACH
#define AMBIT_FOREACH(name)                                                             \
  /** Apply name to each tensor and one number for all. */                              \
  AMBIT_API std::vector<Tensor> _foreach_##name(TensorList self, const Scalar& scalar); \
  /** Apply name to self[i] and other[i]. */                                            \
  AMBIT_API std::vector<Tensor> _foreach_##name(TensorList self, TensorList other);     \
  /** Apply name to self[i] and scalars[i]. */                                          \
  AMBIT_API std::vector<Tensor> _foreach_##name(TensorList self, ScalarList scalars);   \
  /** Apply name in place to each tensor and one number for all. */                     \
  AMBIT_API void _foreach_##name##_(TensorList self, const Scalar& scalar);             \
  /** Apply name in place to self[i] and other[i]. */                                   \
  AMBIT_API void _foreach_##name##_(TensorList self, TensorList other);                 \
  /** Apply name in place to self[i] and scalars[i]. */                                 \
  AMBIT_API void _foreach_##name##_(TensorList self, ScalarList scalars);
AMBIT_FOREACH_BINARY(AMBIT_FOREACH)
#undef AMBIT_FOREACH
#define AMBIT_FOREACH(name)                                                                      \
  /** Apply name to each tensor and one number for all. */                                       \
  AMBIT_API std::vector<Tensor> _foreach_##name(TensorList self, const Scalar& scalar);          \
  /** Apply name to self[i] and alpha times other[i]. */                                         \
  AMBIT_API std::vector<Tensor> _foreach_##name(TensorList self, TensorList other,               \
                                                const Scalar& alpha = 1);                        \
  /** Apply name to self[i] and scalars[i]. */                                                   \
  AMBIT_API std::vector<Tensor> _foreach_##name(TensorList self, ScalarList scalars);            \
  /** Apply name in place to each tensor and one number for all. */                              \
  AMBIT_API void _foreach_##name##_(TensorList self, const Scalar& scalar);                      \
  /** Apply name in place to self[i] and alpha times other[i]. */                                \
  AMBIT_API void _foreach_##name##_(TensorList self, TensorList other, const Scalar& alpha = 1); \
  /** Apply name in place to self[i] and scalars[i]. */                                          \
  AMBIT_API void _foreach_##name##_(TensorList self, ScalarList scalars);
AMBIT_FOREACH(add)
AMBIT_FOREACH(sub)
#undef AMBIT_FOREACH
/// Add alpha times one 0-dim tensor to each tensor.
/// @{
AMBIT_API std::vector<Tensor> _foreach_add(TensorList self, const Tensor& other,
                                           const Scalar& alpha = 1);
AMBIT_API void _foreach_add_(TensorList self, const Tensor& other, const Scalar& alpha = 1);
/// @}
#define AMBIT_FOREACH(name)                                                            \
  /** Apply name to each tensor and one 0-dim tensor for all. */                       \
  AMBIT_API std::vector<Tensor> _foreach_##name(TensorList self, const Tensor& other); \
  /** Apply name in place to each tensor and one 0-dim tensor for all. */              \
  AMBIT_API void _foreach_##name##_(TensorList self, const Tensor& other);
AMBIT_FOREACH(mul)
AMBIT_FOREACH(div)
#undef AMBIT_FOREACH
/// Raise one number to the powers exponent[i].
AMBIT_API std::vector<Tensor> _foreach_pow(const Scalar& self, TensorList exponent);
#define AMBIT_FOREACH(name)                                                                   \
  /** Apply name to self[i], tensor1[i] and tensor2[i] with one value for all. */             \
  AMBIT_API std::vector<Tensor> _foreach_##name(TensorList self, TensorList tensor1,          \
                                                TensorList tensor2, const Scalar& value = 1); \
  /** Apply name to self[i], tensor1[i] and tensor2[i] with the value scalars[i]. */          \
  AMBIT_API std::vector<Tensor> _foreach_##name(TensorList self, TensorList tensor1,          \
                                                TensorList tensor2, ScalarList scalars);      \
  /** Apply name to self[i], tensor1[i] and tensor2[i] with values of a 1-dim cpu tensor. */  \
  AMBIT_API std::vector<Tensor> _foreach_##name(TensorList self, TensorList tensor1,          \
                                                TensorList tensor2, const Tensor& scalars);   \
  /** Apply name in place with one value for all. */                                          \
  AMBIT_API void _foreach_##name##_(TensorList self, TensorList tensor1, TensorList tensor2,  \
                                    const Scalar& value = 1);                                 \
  /** Apply name in place with the value scalars[i]. */                                       \
  AMBIT_API void _foreach_##name##_(TensorList self, TensorList tensor1, TensorList tensor2,  \
                                    ScalarList scalars);                                      \
  /** Apply name in place with the values of a 1-dim cpu tensor. */                           \
  AMBIT_API void _foreach_##name##_(TensorList self, TensorList tensor1, TensorList tensor2,  \
                                    const Tensor& scalars);
AMBIT_FOREACH(addcdiv)
AMBIT_FOREACH(addcmul)
#undef AMBIT_FOREACH
#define AMBIT_FOREACH(Weight)                                                       \
  /** Compute lerp(self[i], tensors1[i]) with a weight of each tensor or of all. */ \
  AMBIT_API std::vector<Tensor> _foreach_lerp(TensorList self, TensorList tensors1, \
                                              Weight weight);                       \
  /** Compute lerp in place with a weight of each tensor or of all. */              \
  AMBIT_API void _foreach_lerp_(TensorList self, TensorList tensors1, Weight weight);
AMBIT_FOREACH(TensorList)
AMBIT_FOREACH(ScalarList)
AMBIT_FOREACH(const Scalar&)
#undef AMBIT_FOREACH
/// Compute linalg_vector_norm(self[i], ord, dtype).
AMBIT_API std::vector<Tensor> _foreach_norm(TensorList self, const Scalar& ord = 2,
                                            std::optional<DType> dtype = {});
/// Same as _foreach_norm without its root: the sum of the powers of |x|.
AMBIT_API std::vector<Tensor> _foreach_powsum(TensorList self, const Scalar& ord = 2,
                                              std::optional<DType> dtype = {});
/// Compute max(self[i]).
AMBIT_API std::vector<Tensor> _foreach_max(TensorList self);
/// Compute mm(self[i], mat2[i]).
AMBIT_API std::vector<Tensor> _foreach_mm(TensorList self, TensorList mat2);
/// Compute clone(self[i], format); default format: Preserve.
AMBIT_API std::vector<Tensor> _foreach_clone(TensorList self,
                                             std::optional<MemoryFormat> format = {});
/// Copy src[i] to new tensors with the sizes, dtype and device of self[i].
AMBIT_API std::vector<Tensor> _foreach_copy(TensorList self, TensorList src,
                                            bool non_blocking = false);
/// Copy src[i] to self[i].
AMBIT_API void _foreach_copy_(TensorList self, TensorList src, bool non_blocking = false);
/// Compute zero(self[i]).
AMBIT_API std::vector<Tensor> _foreach_zero(TensorList self);
/// Set all elements of all tensors to 0.
AMBIT_API void _foreach_zero_(TensorList self);

namespace detail {

/// Write results into the tensors of out.
AMBIT_API void write_parts(const char* op, TensorList out, const std::vector<Tensor>& parts);

}  // namespace detail

#define AMBIT_FOREACH(name)                                                         \
  /** Write the results of _foreach_##name into the tensors of out. */              \
  template <class... A>                                                             \
  auto _foreach_##name##_out(TensorList out, TensorList self, A&&... a)             \
      ->decltype(static_cast<void>(_foreach_##name(self, std::forward<A>(a)...))) { \
    detail::write_parts("_foreach_" #name "_out", out,                              \
                        _foreach_##name(self, std::forward<A>(a)...));              \
  }
AMBIT_FOREACH_UNARY(AMBIT_FOREACH)
AMBIT_FOREACH_BINARY(AMBIT_FOREACH)
AMBIT_FOREACH(add)
AMBIT_FOREACH(sub)
AMBIT_FOREACH(addcdiv)
AMBIT_FOREACH(addcmul)
AMBIT_FOREACH(lerp)
AMBIT_FOREACH(norm)
AMBIT_FOREACH(powsum)
AMBIT_FOREACH(max)
AMBIT_FOREACH(clone)
AMBIT_FOREACH(copy)
AMBIT_FOREACH(zero)
#undef AMBIT_FOREACH

}  // namespace ambit
