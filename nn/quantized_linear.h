// The product of a module whose weight may be int8.
#pragma once

#include <ambit/detail/activation.h>
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

}  // namespace ambit::nn
