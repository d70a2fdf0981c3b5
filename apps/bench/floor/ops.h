// Single ops: convolutions and products of matrices.
#pragma once

#include "network.h"
#include "peer.h"

namespace bench::floor {

/// A convolution; with its gradients, if the weight wants one. The input and the gradient of the
/// output are row-major; results stay channels-last, and the weight is brought into its layout
/// once. Operands: input, weight, bias, then the gradient of the output. Parameters: the padding.
class Convolution : public Work {
 public:
  explicit Convolution(const Specification& specification);
  void run() override;
  double result() override;

 private:
  bool with_gradients_;
  Network network_;
};

/// Operands: a, b, both row-major, as is their product.
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
