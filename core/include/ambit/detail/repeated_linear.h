// linear() for rows that come one after the other, each made from those before.
#pragma once

#include <ambit/node.h>
#include <ambit/tensor.h>

#include <cstddef>

namespace ambit {

/// The map x [B,K] -> x w^T + b [B,N], to be called several times, as a recurrent network does.
/// What it returns is linear()'s, but all calls together have one product for the gradient of w
/// [N,K], and one sum for that of b [N], which may be undefined.
class AMBIT_API RepeatedLinear {
 public:
  /// For `calls` calls at most. Errors: those of linear().
  RepeatedLinear(const Tensor& weight, const Tensor& bias, size_t calls);
  Tensor operator()(const Tensor& x);

 private:
  Tensor weight_, bias_;
  intrusive_ptr<Node> gradients_;  // null where there is nothing to join
  uint32_t calls_, done_ = 0;
};

}  // namespace ambit
