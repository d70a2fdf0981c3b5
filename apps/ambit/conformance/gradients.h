// A gradient case, and the families that have their own files.
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
  std::string name, op;            // "conv2d/strided", and the tested kernel
  std::vector<ambit::Dims> sizes;  // of the operands, which are uniform in [0.5, 1.5)
  std::function<ambit::Tensor(const Tensors& x)> f;
};

inline ambit::Tensor index_on(const ambit::Tensor& x, const ambit::TensorData& values) {
  return tensor(values, x.device());
}

std::vector<Gradient> layer_gradients();
std::vector<Gradient> factor_gradients();

}  // namespace conformance
