// Form: attention as matrix products and softmax. ONNX has an operator for it only since opset 23.
#include <cmath>
#include <limits>

#include "forms.h"

namespace ambit::graph::onnx {
namespace {

// Repeat each head of x `times` times.
Ref repeated_heads(Site& s, const Ref& x, size_t i, int64_t times) {
  if (times == 1) return x;
  return s.e.repeat_each(x, s.rank(i), s.rank(i) - 3, times);
}

// True where a query attends to a key: at positions up to its own.
Ref causal_mask(Site& s) {
  Emitter& e = s.e;
  const int64_t rank = s.rank(0);
  const Ref shape = e.concat({e.sizes(s.tensor(0), rank - 2, rank - 1),
                              e.sizes(s.tensor(1), s.rank(1) - 2, s.rank(1) - 1)},
                             0);
  const Ref all = e.op("Expand", {e.number(1, kInt32), shape});
  return e.cast(e.op("Trilu", {all}, {attribute("upper", 0)}), kBool);
}

Ref swapped_matrices(Site& s, const Ref& x, int64_t rank) {
  Dims order;
  for (int64_t d = 0; d < rank; ++d) order.push_back(d);
  std::swap(order[static_cast<size_t>(rank - 1)], order[static_cast<size_t>(rank - 2)]);
  return s.e.transpose(x, order);
}

void attention(Site& s) {
  Emitter& e = s.e;
  if (s.real(4) != 0) Site::refuse("dropout");
  const Ref q = s.tensor(0);
  Ref k = s.tensor(1), v = s.tensor(2);
  if (s.flag(7)) {
    const int64_t heads = s.fixed_sizes(0)[static_cast<size_t>(s.rank(0) - 3)];
    const auto times = [&](size_t i) {
      return heads / s.sizes(i)[static_cast<size_t>(s.rank(i) - 3)];
    };
    k = repeated_heads(s, k, 1, times(1));
    v = repeated_heads(s, v, 2, times(2));
  }
  double scale = 0;
  if (s.has(6)) {
    scale = s.real(6);
  } else {
    const int64_t size = s.sizes(0).back();
    if (size < 0) Site::refuse("a dynamic size of the queries");
    scale = 1 / std::sqrt(static_cast<double>(size));
  }
  Ref scores = e.op("MatMul", {e.mul(q, scale), swapped_matrices(s, k, s.rank(1))});
  Ref visible;
  if (s.has(3) && s.dtype_of(3) != kBool) {
    scores = e.add(scores, s.tensor(3));
  } else if (s.has(3)) {
    visible = s.tensor(3);
  }
  if (s.flag(5)) {
    const Ref before = causal_mask(s);
    visible = visible.name.empty() ? before : e.op("And", {visible, before});
  }
  if (!visible.name.empty()) {
    const Ref hidden = e.number(-std::numeric_limits<double>::infinity(), q.dtype);
    scores = e.where(visible, scores, hidden);
  }
  Ref weights = softmax(e, scores, -1);
  if (s.has(3)) {  // softmax gives NaN for a query that attends to no key; its weights are 0
    const Ref most = e.reduce("ReduceMax", scores, Dims{s.rank(0) - 1}, true);
    const Ref sees_none = e.compare("Equal", most, -std::numeric_limits<double>::infinity());
    weights = e.where(sees_none, e.number(0, q.dtype), weights);
  }
  s.give(e.op("MatMul", {weights, v}));
}

constexpr Form kRows[] = {{"scaled_dot_product_attention.default", attention}};

}  // namespace

constinit const std::span<const Form> kAttentionForms = kRows;

}  // namespace ambit::graph::onnx
