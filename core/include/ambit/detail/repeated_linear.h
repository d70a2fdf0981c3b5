// For recurrent networks: linear() applied step by step, with gradients of the weight batched over
// all steps; and splitting of rows that are all available at once.
#pragma once

#include <ambit/node.h>
#include <ambit/tensor.h>

#include <cstddef>
#include <vector>

namespace ambit {

/// The function x [B,K] -> x w^T + b [B,N], called once per step. The results are those of
/// linear(), but the gradient of w [N,K] is one matrix product over all calls and that of b [N],
/// which may be undefined, one sum.
class AMBIT_API RepeatedLinear {
 public:
  /// `calls`: the maximum number of calls. Errors: those of linear().
  RepeatedLinear(const Tensor& weight, const Tensor& bias, size_t calls);
  Tensor operator()(const Tensor& x);

 private:
  Tensor weight_, bias_;
  intrusive_ptr<Node> gradients_;  // null if there is nothing to batch
  uint32_t calls_, done_ = 0;
};

/// Return consecutive parts of `sizes` rows of x [N,...], like split(), but x's gradient is
/// assembled in one tensor, without a tensor of x's size for each part. The parts share x's memory
/// without being views: x must be new, and neither x nor the parts may be written.
AMBIT_API std::vector<Tensor> rows_apart(const Tensor& x, IntArrayRef sizes);

}  // namespace ambit
