// Operands of 16 bits of a call that is done in float32: the float32 tensors in their places.
#pragma once

#include <ambit/tensor.h>

#include <cstdint>
#include <functional>
#include <vector>

namespace ambit {

/// Of a tensor that may be undefined.
inline bool is_reduced(const Tensor& t) { return t.defined() && is_reduced(t.dtype()); }

/// An alias that no graph knows. Its offset counts from the first element of t.
Tensor alias(const Tensor& t, IntArrayRef sizes, IntArrayRef strides, int64_t offset, DType dtype);

/// t without what is repeated.
Tensor once(const Tensor& t);

/// Copy all that is there once.
void convert(const Tensor& to, const Tensor& from);

/// The operands of a call as it gets them, and as they were given.
class WideRow {
 public:
  /// `reads`, `writes`: what the call does with t. `memory`: a flat float32 tensor, as large as t,
  /// that its place is taken in; else that is allocated.
  void add(const Tensor& t, bool reads, bool writes, const Tensor& memory = {});
  /// The same by way of a dense copy in any case.
  void add_copy(const Tensor& t, bool reads, bool writes, const Tensor& memory = {});
  void run(const std::function<void(Tensor*)>& call);

 private:
  std::vector<Tensor> given_, row_;
  std::vector<bool> writes_;
};

}  // namespace ambit
