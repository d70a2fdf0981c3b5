// Whether operands want gradients, and their way back: an operand that was broadcast or converted
// gets its gradient in the shape, dtype and device that it had.
#pragma once

#include <ambit/autograd.h>
#include <ambit/tensor.h>

namespace ambit {

/// Return whether an op of these inputs has to be recorded.
template <class... T>
bool needs_gradient(const T&... inputs) {
  return (inputs.requires_grad() || ...) && GradMode::is_enabled();
}

/// Sum `g` over the dims that broadcasting from `sizes` has added or grown.
Tensor sum_to(const Tensor& g, IntArrayRef sizes);

/// The formula of an operand that goes through an op unchanged, and the last step of most others:
/// give a gradient the operand's shape, dtype and device.
class BackTo {
 public:
  explicit BackTo(const Tensor& operand)
      : sizes_(operand.sizes()), dtype_(operand.dtype()), device_(operand.device()) {}
  Tensor operator()(const Tensor& g) const;

 private:
  Dims sizes_;
  DType dtype_;
  Device device_;
};

/// The formula of an operand that the output depends on nowhere, or only in steps.
class ZerosLike {
 public:
  explicit ZerosLike(const Tensor& operand)
      : sizes_(operand.sizes()), options_(operand.options()) {}
  Tensor operator()(const Tensor& g) const;

 private:
  Dims sizes_;
  TensorOptions options_;
};

}  // namespace ambit
