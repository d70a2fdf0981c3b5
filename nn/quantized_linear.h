// What modules whose weights may be int8 share: their product, and how they begin anew.
#pragma once

#include <ambit/detail/activation.h>
#include <ambit/nn/quantize.h>
#include <ambit/ops/matmul.h>
#include <ambit/ops/quantized.h>

namespace ambit::nn {

/// x weight^T + bias; scale: the factors of an int8 weight's rows, else undefined.
inline Tensor product(const Tensor& x, const Tensor& weight, const Tensor& scale,
                      const Tensor& bias = {}) {
  return scale.defined() ? linear_int8(x, weight, scale, bias) : linear(x, weight, bias);
}

/// The same with an activation behind it.
inline Tensor product_map(const Tensor& x, const Tensor& weight, const Tensor& scale,
                          const Tensor& bias, UnaryOp activation) {
  if (!scale.defined()) return linear_map(x, weight, bias, activation);
  return activated(linear_int8(x, weight, scale, bias), activation);
}

/// At the end of reset() of a module that was int8, as what is cloned may be: its new weights are,
/// too. By way of float32, since the default dtype may be float64.
inline void quantize_again(Module& module) {
  module.to(kFloat32);
  quantize_dynamic(module);
}

}  // namespace ambit::nn
