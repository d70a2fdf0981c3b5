// What a recurrent network does with all of its steps: linear() of rows that come one after the
// other, each made from those before; and the parts of rows that are there at once.
#pragma once

#include <ambit/node.h>
#include <ambit/tensor.h>

#include <cstddef>
#include <vector>

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

/// Return the rows of x [N,...] in parts of `sizes` rows, one behind the other: what split()
/// returns, but their gradients become x's as one piece, without a tensor of x's size for each.
/// They share x's memory without being views of it: x must be fresh, and nobody may write to it,
/// nor to them.
AMBIT_API std::vector<Tensor> rows_apart(const Tensor& x, IntArrayRef sizes);

}  // namespace ambit
