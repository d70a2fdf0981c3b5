// Operators: losses.
#include <ambit/error.h>
#include <ambit/nn/functional/aten.h>
#include <ambit/ops/creation.h>
#include <ambit/ops/elementwise.h>
#include <ambit/ops/index.h>
#include <ambit/ops/norm.h>
#include <ambit/ops/reduce.h>
#include <ambit/ops/shape.h>

#include "operators.h"

namespace ambit::graph::onnx {
namespace {

// log_p [N,C,...], target [N,...], weight [C]; a target that is ignored has the weight 0.
Tensor chosen(const Call& c, const Tensor& log_p, const Tensor& target, const Tensor& weight,
              size_t ignore, size_t reduction) {
  const Tensor t = target.to(kInt64);
  const std::optional<int64_t> ignored = c.optional_integer(ignore);
  const Tensor kept = ignored ? t.ne(*ignored) : ones_like(t, TensorOptions(kBool));
  const Tensor safe = where(kept, t, zeros_like(t));
  Tensor w = weight.defined() ? index_select(weight, 0, safe.reshape({-1})).reshape(t.sizes())
                              : ones(t.sizes(), log_p.options());
  w = where(kept, w, zeros_like(w));
  const Tensor loss = -gather(log_p, 1, safe.unsqueeze(1)).squeeze(1) * w;
  const std::string_view how = c.text(reduction);
  if (how == "none") return loss;
  return how == "sum" ? loss.sum() : loss.sum() / w.sum();
}

void cross_entropy_of(Call& c) {
  const Tensor log_p = log_softmax(c.tensor(0), 1);
  c.give(chosen(c, log_p, c.tensor(1), c.optional_tensor(2), 3, 4));
  c.give(log_p);
}

constexpr Operator kRows[] = {
    // clang-format off
    {{"NegativeLogLikelihoodLoss", "input target weight=None ignore_index=None reduction=mean",
      one([](Call& c) {
       return chosen(c, c.tensor(0), c.tensor(1), c.optional_tensor(2), 3, 4); })}, 3},
    {{"SoftmaxCrossEntropyLoss", "scores labels weights=None ignore_index=None reduction=mean",
      many(cross_entropy_of)}, 3},
    // clang-format on
};

}  // namespace

constinit const std::span<const Operator> kLossOperators = kRows;

}  // namespace ambit::graph::onnx
