// Attention of queries to keys.
#pragma once

#include <ambit/tensor.h>

#include <optional>

namespace ambit {

/// softmax(q k^T scale + mask) v of query [..., L, E], key [..., S, E], value [..., S, Ev] -> [...,
/// L, Ev]; what is before the last two dims broadcasts.
/// attn_mask: broadcasts to [..., L, S]; bool: true where a query may see a key; else, of query's
/// dtype, added to the scores. is_causal: query i sees keys up to i. A query that sees no key gives
/// 0. scale: 1 / sqrt(E) unless given. dropout_p: of the weights, in [0, 1].
/// In blocks, without a tensor of all weights, unless the mask requires grad or the gradient is
/// differentiated. With dropout_p each block's weights are made twice, again in backward.
/// Errors: ShapeError, DTypeError, DeviceMismatchError; Error for is_causal with a mask, and
/// another dropout_p.
/// Gradient: query, key, value, attn_mask.
/// Source: torch.nn.functional.scaled_dot_product_attention of PyTorch 2; Vaswani et al. 2017,
/// arXiv:1706.03762; in blocks: Dao et al. 2022, arXiv:2205.14135.
AMBIT_API Tensor scaled_dot_product_attention(const Tensor& query, const Tensor& key,
                                              const Tensor& value, const Tensor& attn_mask = {},
                                              double dropout_p = 0, bool is_causal = false,
                                              std::optional<double> scale = {});

}  // namespace ambit
