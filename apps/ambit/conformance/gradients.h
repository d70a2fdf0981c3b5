// What a case of gradients is made of, and the families that have a file of their own.
#pragma once

#include <ambit/array_ref.h>
#include <ambit/ops/creation.h>
#include <ambit/tensor.h>

#include <functional>
#include <string>
#include <vector>

namespace conformance {

using Tensors = std::vector<ambit::Tensor>;

struct Gradient {
  std::string name, op;            // "conv2d/strided", and the kernel it is about
  std::vector<ambit::Dims> sizes;  // of the operands, which are random in [0.5, 1.5)
  std::function<ambit::Tensor(const Tensors& x)> f;
};

inline ambit::Tensor index_on(const ambit::Tensor& x, const ambit::TensorData& values) {
  return tensor(values, x.device());
}

std::vector<Gradient> layer_gradients();
std::vector<Gradient> factor_gradients();

}  // namespace conformance
