// Single ops: convolutions and matrix products.
#pragma once

#include "network.h"
#include "peer.h"

namespace bench::floor {

/// A convolution; with gradients, if the weight requires grad. The input and the output gradient
/// are row-major; results stay channels-last, and the weight is converted to its layout once.
/// Operands: input, weight, bias, then the output gradient. Parameters: the padding.
class Convolution : public Work {
 public:
  explicit Convolution(const Specification& specification);
  void run() override;
  double result() override;

 private:
  bool with_gradients_;
  Network network_;
};

/// Operands: a, b, both row-major, like their product.
class Product : public Work {
 public:
  explicit Product(const Specification& specification);
  void run() override { calls_.run(); }
  double result() override { return sum(out_); }

 private:
  dnnl::memory out_;
  Calls calls_;
};

}  // namespace bench::floor
