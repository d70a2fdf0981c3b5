// Attention's weights and gradients as tensors, composed of ops.
#pragma once

#include <ambit/params.h>
#include <ambit/tensor.h>

namespace ambit {

/// Return w = softmax(scale q k^T + mask) [..., L, S] for queries starting at index `first`; 0
/// where a query may attend to no key.
Tensor attention_weights(const Tensor& q, const Tensor& k, const Tensor& mask,
                         const AttentionParams& p, int64_t first = 0);

struct AttentionGrads {
  Tensor q, k, v;
};
/// Return the gradients of y = (w * kept) v, or of w v if `kept` is undefined.
AttentionGrads attention_grads(const Tensor& dy, const Tensor& q, const Tensor& k, const Tensor& v,
                               const Tensor& w, const Tensor& kept, const Tensor& y,
                               const AttentionParams& p);

}  // namespace ambit
