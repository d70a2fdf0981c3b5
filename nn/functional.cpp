// The functions of nn::functional that are more than another op's name.
#include <ambit/nn/functional.h>
#include <ambit/ops/creation.h>

namespace ambit::nn::functional {

Tensor dropout(const Tensor& input, double p, bool training, bool inplace) {
  if (!inplace || !training) return ambit::dropout(input, p, training);
  // The mask is what dropout makes of ones: 0 or 1 / (1 - p).
  return input.mul_(ambit::dropout(ones_like(input), p, training));
}

Tensor embedding(const Tensor& indices, const Tensor& weight, std::optional<int64_t> padding_idx) {
  int64_t row = padding_idx.value_or(-1);
  if (padding_idx && row < 0) row += weight.size(0);
  return ambit::embedding(weight, indices, row);
}

}  // namespace ambit::nn::functional
