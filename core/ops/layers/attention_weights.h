// Attention's weights and gradients as tensors, in ops.
#pragma once

#include <ambit/params.h>
#include <ambit/tensor.h>

namespace ambit {

/// w = softmax(scale q k^T + mask) [..., L, S] of queries from `first` on; 0 where a query sees no
/// key.
Tensor attention_weights(const Tensor& q, const Tensor& k, const Tensor& mask,
                         const AttentionParams& p, int64_t first = 0);

struct AttentionGrads {
  Tensor q, k, v;
};
/// The gradients of y = (w * kept) v, or of w v where `kept` is undefined.
AttentionGrads attention_grads(const Tensor& dy, const Tensor& q, const Tensor& k, const Tensor& v,
                               const Tensor& w, const Tensor& kept, const Tensor& y,
                               const AttentionParams& p);

}  // namespace ambit
