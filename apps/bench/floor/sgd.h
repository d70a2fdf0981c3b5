#pragma once

#include <vector>

#include "network.h"

namespace bench::floor {

/// Stochastic gradient descent, PyTorch's formula: b = momentum b + g; p -= lr b.
class Sgd {
 public:
  Sgd() = default;
  Sgd(const std::vector<Parameter>& parameters, float lr, float momentum);
  void step();

 private:
  struct Tensor {
    float* value;
    const float* grad;
    std::vector<float> buffer;  // none without momentum
    size_t size;                // with the padding of its layout: zeros, and they stay zeros
  };
  std::vector<Tensor> tensors_;
  float lr_ = 0, momentum_ = 0;
};

}  // namespace bench::floor
