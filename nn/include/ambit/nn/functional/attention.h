// nn::functional: multi-head attention, used by MultiheadAttention.
#pragma once

#include <ambit/nn/options.h>
#include <ambit/tensor.h>

#include <tuple>

namespace ambit::nn::functional {

/// Options of multi_head_attention_forward: embed_dim_to_check E; num_heads; in_proj_weight [3 E,
/// E] or, with use_separate_proj_weight, q_, k_ and v_proj_weight [E, features]; in_proj_bias [3
/// E]; bias_k, bias_v [1, 1, E], a key and value to append; add_zero_attn: append a zero key and
/// value; dropout_p: probability on attention weights in training; out_proj_weight [E, E],
/// out_proj_bias [E]. Biases may be undefined. static_k, static_v [N num_heads, S, E / num_heads]:
/// replace the projected keys and values. Weights may be int8 (ops/quantized.h), each with row
/// scales, in_proj_weight_scale [3 E] and so on, which are undefined otherwise.
class MultiheadAttentionForwardFuncOptions : public Options<MultiheadAttentionForwardFuncOptions> {
 public:
  MultiheadAttentionForwardFuncOptions(int64_t embed_dim_to_check, int64_t num_heads,
                                       Tensor in_proj_weight, Tensor in_proj_bias, Tensor bias_k,
                                       Tensor bias_v, bool add_zero_attn, double dropout_p,
                                       Tensor out_proj_weight, Tensor out_proj_bias)
      : embed_dim_to_check_(embed_dim_to_check),
        num_heads_(num_heads),
        in_proj_weight_(std::move(in_proj_weight)),
        in_proj_bias_(std::move(in_proj_bias)),
        bias_k_(std::move(bias_k)),
        bias_v_(std::move(bias_v)),
        add_zero_attn_(add_zero_attn),
        dropout_p_(dropout_p),
        out_proj_weight_(std::move(out_proj_weight)),
        out_proj_bias_(std::move(out_proj_bias)) {}

  AMBIT_OPTION(MultiheadAttentionForwardFuncOptions, int64_t, embed_dim_to_check);
  AMBIT_OPTION(MultiheadAttentionForwardFuncOptions, int64_t, num_heads);
  AMBIT_OPTION(MultiheadAttentionForwardFuncOptions, Tensor, in_proj_weight);
  AMBIT_OPTION(MultiheadAttentionForwardFuncOptions, Tensor, in_proj_bias);
  AMBIT_OPTION(MultiheadAttentionForwardFuncOptions, Tensor, bias_k);
  AMBIT_OPTION(MultiheadAttentionForwardFuncOptions, Tensor, bias_v);
  AMBIT_OPTION(MultiheadAttentionForwardFuncOptions, bool, add_zero_attn);
  AMBIT_OPTION(MultiheadAttentionForwardFuncOptions, double, dropout_p);
  AMBIT_OPTION(MultiheadAttentionForwardFuncOptions, Tensor, out_proj_weight);
  AMBIT_OPTION(MultiheadAttentionForwardFuncOptions, Tensor, out_proj_bias);
  AMBIT_OPTION(MultiheadAttentionForwardFuncOptions, bool, training) = true;
  AMBIT_OPTION(MultiheadAttentionForwardFuncOptions, Tensor, key_padding_mask);
  AMBIT_OPTION(MultiheadAttentionForwardFuncOptions, bool, need_weights) = true;
  AMBIT_OPTION(MultiheadAttentionForwardFuncOptions, Tensor, attn_mask);
  AMBIT_OPTION(MultiheadAttentionForwardFuncOptions, bool, use_separate_proj_weight) = false;
  AMBIT_OPTION(MultiheadAttentionForwardFuncOptions, Tensor, q_proj_weight);
  AMBIT_OPTION(MultiheadAttentionForwardFuncOptions, Tensor, k_proj_weight);
  AMBIT_OPTION(MultiheadAttentionForwardFuncOptions, Tensor, v_proj_weight);
  AMBIT_OPTION(MultiheadAttentionForwardFuncOptions, Tensor, static_k);
  AMBIT_OPTION(MultiheadAttentionForwardFuncOptions, Tensor, static_v);
  AMBIT_OPTION(MultiheadAttentionForwardFuncOptions, bool, average_attn_weights) = true;
  AMBIT_OPTION(MultiheadAttentionForwardFuncOptions, Tensor, in_proj_weight_scale);
  AMBIT_OPTION(MultiheadAttentionForwardFuncOptions, Tensor, q_proj_weight_scale);
  AMBIT_OPTION(MultiheadAttentionForwardFuncOptions, Tensor, k_proj_weight_scale);
  AMBIT_OPTION(MultiheadAttentionForwardFuncOptions, Tensor, v_proj_weight_scale);
  AMBIT_OPTION(MultiheadAttentionForwardFuncOptions, Tensor, out_proj_weight_scale);
};

/// Project query [L,N,E], key [S,N,*] and value [S,N,*], compute attention for each head, and
/// project the concatenated results -> the output [L,N,E] and, with need_weights, the attention
/// weights: their mean over heads [N,L,S], or per head [N, num_heads, L, S]. Without need_weights
/// the full weight tensor is never allocated. key_padding_mask [N,S] and attn_mask [L,S] or [N
/// num_heads, L, S]: bool or uint8, true at positions that are masked out; or floating point, added
/// to the scores. Errors: ShapeError, DTypeError, DeviceMismatchError; Error for undefined tensors,
/// if num_heads does not divide E, if only one of bias_k and bias_v is given, and for these with
/// static_k or static_v. Gradient: all floating-point tensors. Source: Vaswani et al. 2017,
/// arXiv:1706.03762; torch.nn.functional.multi_head_attention_forward.
AMBIT_API std::tuple<Tensor, Tensor> multi_head_attention_forward(
    const Tensor& query, const Tensor& key, const Tensor& value,
    const MultiheadAttentionForwardFuncOptions& options);

}  // namespace ambit::nn::functional
