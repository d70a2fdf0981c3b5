// What ops share on the way to a kernel and back: outputs to fill, operands as kernels take them
// (converted, expanded, seen by no graph), and the return of gradients to the operands' shapes.
#pragma once

#include <ambit/autograd.h>
#include <ambit/tensor.h>

namespace ambit {

/// Return whether an op of these inputs has to be recorded.
template <class... T>
bool needs_gradient(const T&... inputs) {
  return (inputs.requires_grad() || ...) && GradMode::is_enabled();
}

/// Allocate the output of `op`: as empty(), but errors bear the op's name.
Tensor allocate(const char* op, IntArrayRef sizes, DType dtype, Device device);
/// Return options that take from `self` the dtype and device they do not say.
TensorOptions options_like(const Tensor& self, const TensorOptions& options);

/// Return an alias of `t` with strides of 0 where it broadcasts to `sizes`; `t` itself where it has
/// them already. No graph sees it. Requires that it broadcasts.
Tensor expanded(const Tensor& t, IntArrayRef sizes);
/// Return the same with another dtype, on another device: a copy if one of these differs.
Tensor operand(const Tensor& t, IntArrayRef sizes, DType dtype, Device device);
/// Return whether `from` broadcasts to exactly `to`.
bool broadcasts_to(IntArrayRef from, IntArrayRef to);
/// Check it. Errors: ShapeError.
void check_broadcasts_to(const char* op, IntArrayRef from, IntArrayRef to);

/// Return `value`, converted as static_cast does, as a tensor of `sizes` with strides of 0.
Tensor scalar_on(const Scalar& value, DType dtype, Device device, IntArrayRef sizes = {});
/// Check that `value` can be converted to dtype. Negative numbers wrap around in uint8, as in
/// libtorch. Errors: DTypeError.
void check_fits(const char* op, const Scalar& value, DType dtype);

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
