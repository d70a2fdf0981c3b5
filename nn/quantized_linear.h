// Shared by modules whose weights may be int8: the product, and quantization after reset().
#pragma once

#include <ambit/detail/activation.h>
#include <ambit/nn/quantize.h>
#include <ambit/ops/matmul.h>
#include <ambit/ops/quantized.h>

namespace ambit::nn {

/// Return x weight^T + bias; scale: row scales of an int8 weight, else undefined.
inline Tensor product(const Tensor& x, const Tensor& weight, const Tensor& scale,
                      const Tensor& bias = {}) {
  return scale.defined() ? linear_int8(x, weight, scale, bias) : linear(x, weight, bias);
}

/// As product(), followed by an activation.
inline Tensor product_map(const Tensor& x, const Tensor& weight, const Tensor& scale,
                          const Tensor& bias, UnaryOp activation) {
  if (!scale.defined()) return linear_map(x, weight, bias, activation);
  return activated(linear_int8(x, weight, scale, bias), activation);
}

/// Quantize the new weights if the module was int8; called at the end of reset(), for example in
/// clone(). The weights are converted to float32 first, because the default dtype may be float64.
inline void quantize_again(Module& module) {
  module.to(kFloat32);
  quantize_dynamic(module);
}

}  // namespace ambit::nn
