// Scaled dot-product attention.
#pragma once

#include <ambit/tensor.h>

#include <optional>

namespace ambit {

/// Compute softmax(q k^T scale + mask) v for query [..., L, E], key [..., S, E], value [..., S, Ev]
/// -> [..., L, Ev]; leading dims broadcast.
/// attn_mask: broadcasts to [..., L, S]; bool: true where a query may attend to a key; otherwise,
/// of query's dtype, added to the scores. is_causal: query i attends to keys up to i. A query that
/// may attend to no key gives 0. scale: default 1 / sqrt(E). dropout_p: probability of dropping a
/// weight, in [0, 1]. enable_gqa: each head, dim -3, of key and value serves as many consecutive
/// heads of query as needed.
/// Computed in blocks, without a tensor of all weights, unless the mask requires grad or the
/// gradient is differentiated. With dropout_p the weights of each block are recomputed in backward.
/// Errors: ShapeError, DTypeError, DeviceMismatchError; Error for is_causal with a mask, and for
/// dropout_p out of range. ShapeError with enable_gqa if the heads of key or value do not divide
/// those of query.
/// Gradient: query, key, value, attn_mask.
/// Source: torch.nn.functional.scaled_dot_product_attention of PyTorch 2; Vaswani et al. 2017,
/// arXiv:1706.03762; blocks: Dao et al. 2022, arXiv:2205.14135.
AMBIT_API Tensor scaled_dot_product_attention(const Tensor& query, const Tensor& key,
                                              const Tensor& value,
                                              const std::optional<Tensor>& attn_mask = {},
                                              double dropout_p = 0, bool is_causal = false,
                                              std::optional<double> scale = {},
                                              bool enable_gqa = false);

}  // namespace ambit
