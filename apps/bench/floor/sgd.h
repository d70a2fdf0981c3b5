#pragma once

#include <vector>

#include "network.h"

namespace bench::floor {

/// Stochastic gradient descent with PyTorch's formula: b = momentum b + g; p -= lr b.
class Sgd {
 public:
  Sgd() = default;
  Sgd(const std::vector<Parameter>& parameters, float lr, float momentum);
  void step();

 private:
  struct Tensor {
    float* value;
    const float* grad;
    std::vector<float> buffer;  // empty without momentum
    size_t size;                // including the zero padding of the layout
  };
  std::vector<Tensor> tensors_;
  float lr_ = 0, momentum_ = 0;
};

}  // namespace bench::floor
