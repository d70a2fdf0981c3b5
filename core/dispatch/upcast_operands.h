// Upcast operands: the float32 tensors that replace reduced floating-point operands in a call.
#pragma once

#include <ambit/tensor.h>

#include <cstdint>
#include <functional>
#include <vector>

namespace ambit {

/// False for an undefined tensor.
inline bool is_reduced_floating(const Tensor& t) {
  return t.defined() && is_reduced_floating(t.dtype());
}

/// False for an undefined tensor.
inline bool is_wide_unsigned(const Tensor& t) { return t.defined() && is_wide_unsigned(t.dtype()); }

/// Return an alias outside of any graph. Its offset is relative to t's first element.
Tensor alias(const Tensor& t, IntArrayRef sizes, IntArrayRef strides, int64_t offset, DType dtype);

/// Return a view of t with broadcast (stride-0) dims reduced to size 1.
Tensor without_broadcast(const Tensor& t);

/// Copy each distinct element once.
void convert(const Tensor& to, const Tensor& from);

/// The operands of a call, as given and as passed to the call.
class UpcastOperands {
 public:
  /// `reads`, `writes`: how the call uses t. `memory`: a flat float32 tensor, at least as large as
  /// t, for the upcast copy; else it is allocated.
  void add(const Tensor& t, bool reads, bool writes, const Tensor& memory = {});
  /// As add(), but always with a dense copy.
  void add_copy(const Tensor& t, bool reads, bool writes, const Tensor& memory = {});
  void run(const std::function<void(Tensor*)>& call);

 private:
  std::vector<Tensor> given_, passed_;
  std::vector<bool> writes_;
};

}  // namespace ambit
