// Gradients of operands: an operand that was broadcast or converted gets its gradient in its
// original shape, dtype and device.
#pragma once

#include <ambit/autograd.h>
#include <ambit/tensor.h>

namespace ambit {

/// Return true if an op of these inputs must be recorded.
template <class... T>
bool needs_gradient(const T&... inputs) {
  return (inputs.requires_grad() || ...) && GradMode::is_enabled();
}

/// Sum `g` over the dims that broadcasting from `sizes` added or expanded.
Tensor sum_to(const Tensor& g, IntArrayRef sizes);

/// The formula of an operand that passes through an op unchanged, and the last step of most other
/// formulas: convert a gradient to the operand's shape, dtype and device.
class ReduceGradTo {
 public:
  explicit ReduceGradTo(const Tensor& operand)
      : sizes_(operand.sizes()), dtype_(operand.dtype()), device_(operand.device()) {}
  Tensor operator()(const Tensor& g) const;

 private:
  Dims sizes_;
  DType dtype_;
  Device device_;
};

/// The formula of an operand on which the output does not depend, or only through step functions.
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
