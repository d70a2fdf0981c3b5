// Attention composed of ops: its weights, and the composites of its kernels.
#include <ambit/ops/creation.h>
#include <ambit/ops/elementwise.h>
#include <ambit/ops/matmul.h>
#include <ambit/ops/norm.h>
#include <ambit/ops/reduce.h>
#include <ambit/ops/shape.h>

#include <limits>

#include "attention_weights.h"
#include "core/ops/composite.h"

namespace ambit {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// scale * q k^T + mask: [..., L, S].
Tensor scores(const Tensor& q, const Tensor& k, const Tensor& mask, const AttentionParams& p,
              int64_t first = 0) {
  Tensor s = matmul(q * p.scale, transpose(k, -2, -1));
  if (p.causal) {
    const TensorOptions options = TensorOptions(kInt64).device(q.device());
    const Tensor queries = arange(first, first + q.size(-2), options);
    const Tensor later = arange(k.size(-2), options) > unsqueeze(queries, 1);  // [L,S]
    s = masked_fill(s, later, -kInfinity);
  }
  return mask.defined() ? s + mask : s;
}

}  // namespace

Tensor attention_weights(const Tensor& q, const Tensor& k, const Tensor& mask,
                         const AttentionParams& p, int64_t first) {
  const Tensor s = scores(q, k, mask, p, first);
  if (!mask.defined()) return softmax(s, -1);
  const Tensor blind = all(s == -kInfinity, -1, true);
  return masked_fill(softmax(masked_fill(s, blind, 0), -1), blind, 0);
}

// The gradient of the scores is ds = w * (kept * (dy v^T) - sum(dy * y)).
AttentionGrads attention_grads(const Tensor& dy, const Tensor& q, const Tensor& k, const Tensor& v,
                               const Tensor& w, const Tensor& kept, const Tensor& y,
                               const AttentionParams& p) {
  const auto those_kept = [&](const Tensor& t) { return kept.defined() ? t * kept : t; };
  const Tensor dw = those_kept(matmul(dy, transpose(v, -2, -1)));
  const Tensor ds = w * (dw - sum(dy * y, {-1}, true)) * p.scale;
  return {matmul(ds, k), matmul(transpose(ds, -2, -1), q),
          matmul(transpose(those_kept(w), -2, -1), dy)};
}

void composite::attention(Tensor& y, Tensor& lse, const Tensor& q, const Tensor& k, const Tensor& v,
                          const Tensor& mask, const AttentionParams& p) {
  const Tensor s = scores(q, k, mask, p), largest = amax(s, {-1}, true);
  // no key is visible: y is 0, and so are weights computed from lse
  const Tensor blind = largest == -kInfinity;
  const Tensor peak = masked_fill(largest, blind, 0), e = exp(s - peak);
  const Tensor total = masked_fill(sum(e, {-1}, true), blind, 1);
  lse.select(0, 0).copy_(squeeze(peak + (total - total), -1));  // NaN where total is NaN
  lse.select(0, 1).copy_(squeeze(log(total), -1));
  y.copy_(matmul(e / total, v));
}

void composite::attention_grad(Tensor& dq, Tensor& dk, Tensor& dv, const Tensor& dy,
                               const Tensor& q, const Tensor& k, const Tensor& v,
                               const Tensor& mask, const Tensor& y, const Tensor& lse,
                               const AttentionParams& p) {
  const Tensor levels = unsqueeze(lse, -1);
  const Tensor w = exp(scores(q, k, mask, p) - levels.select(0, 0) - levels.select(0, 1));
  const AttentionGrads g = attention_grads(dy, q, k, v, w, {}, y, p);
  dq.copy_(g.q);
  dk.copy_(g.k);
  dv.copy_(g.v);
}

}  // namespace ambit
