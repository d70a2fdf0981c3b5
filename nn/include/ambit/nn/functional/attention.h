// nn::functional: multi-head attention, used by MultiheadAttention.
#pragma once

#include <ambit/nn/options.h>
#include <ambit/tensor.h>

#include <tuple>

namespace ambit::nn::functional {

/// Options of multi_head_attention_forward. Weights may be int8 (ops/quantized.h), each with the
/// scales of its rows, which are undefined otherwise.
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

  /// E, the features of query and output.
  AMBIT_OPTION(MultiheadAttentionForwardFuncOptions, int64_t, embed_dim_to_check);
  /// Number of heads; divides E.
  AMBIT_OPTION(MultiheadAttentionForwardFuncOptions, int64_t, num_heads);
  /// Projections of query, key and value in one matrix, [3 E, E]; unused with
  /// use_separate_proj_weight.
  AMBIT_OPTION(MultiheadAttentionForwardFuncOptions, Tensor, in_proj_weight);
  /// [3 E], or undefined.
  AMBIT_OPTION(MultiheadAttentionForwardFuncOptions, Tensor, in_proj_bias);
  /// A key to append to each sequence, [1, 1, E], or undefined.
  AMBIT_OPTION(MultiheadAttentionForwardFuncOptions, Tensor, bias_k);
  /// A value to append, [1, 1, E]; undefined exactly if bias_k is.
  AMBIT_OPTION(MultiheadAttentionForwardFuncOptions, Tensor, bias_v);
  /// Append a key and value of zeros.
  AMBIT_OPTION(MultiheadAttentionForwardFuncOptions, bool, add_zero_attn);
  /// Probability of zeroing an attention weight in training.
  AMBIT_OPTION(MultiheadAttentionForwardFuncOptions, double, dropout_p);
  /// [E, E].
  AMBIT_OPTION(MultiheadAttentionForwardFuncOptions, Tensor, out_proj_weight);
  /// [E], or undefined.
  AMBIT_OPTION(MultiheadAttentionForwardFuncOptions, Tensor, out_proj_bias);
  /// Apply dropout_p.
  AMBIT_OPTION(MultiheadAttentionForwardFuncOptions, bool, training) = true;
  /// [N,S]; true, or -inf, for keys that are padding. Default: undefined.
  AMBIT_OPTION(MultiheadAttentionForwardFuncOptions, Tensor, key_padding_mask);
  /// Also return the attention weights, which needs memory for all of them.
  AMBIT_OPTION(MultiheadAttentionForwardFuncOptions, bool, need_weights) = true;
  /// [L,S] or [N num_heads, L, S]; see the function. Default: undefined.
  AMBIT_OPTION(MultiheadAttentionForwardFuncOptions, Tensor, attn_mask);
  /// Use q_, k_ and v_proj_weight instead of in_proj_weight.
  AMBIT_OPTION(MultiheadAttentionForwardFuncOptions, bool, use_separate_proj_weight) = false;
  /// [E, E].
  AMBIT_OPTION(MultiheadAttentionForwardFuncOptions, Tensor, q_proj_weight);
  /// [E, features of the keys].
  AMBIT_OPTION(MultiheadAttentionForwardFuncOptions, Tensor, k_proj_weight);
  /// [E, features of the values].
  AMBIT_OPTION(MultiheadAttentionForwardFuncOptions, Tensor, v_proj_weight);
  /// Keys instead of the projected ones, [N num_heads, S, E / num_heads]. Default: undefined.
  AMBIT_OPTION(MultiheadAttentionForwardFuncOptions, Tensor, static_k);
  /// Values instead of the projected ones, [N num_heads, S, E / num_heads]. Default: undefined.
  AMBIT_OPTION(MultiheadAttentionForwardFuncOptions, Tensor, static_v);
  /// Return the mean of the attention weights over heads, not those of each head.
  AMBIT_OPTION(MultiheadAttentionForwardFuncOptions, bool, average_attn_weights) = true;
  /// Scales of the rows of an int8 in_proj_weight, [3 E].
  AMBIT_OPTION(MultiheadAttentionForwardFuncOptions, Tensor, in_proj_weight_scale);
  /// Scales of the rows of an int8 q_proj_weight, [E].
  AMBIT_OPTION(MultiheadAttentionForwardFuncOptions, Tensor, q_proj_weight_scale);
  /// Scales of the rows of an int8 k_proj_weight, [E].
  AMBIT_OPTION(MultiheadAttentionForwardFuncOptions, Tensor, k_proj_weight_scale);
  /// Scales of the rows of an int8 v_proj_weight, [E].
  AMBIT_OPTION(MultiheadAttentionForwardFuncOptions, Tensor, v_proj_weight_scale);
  /// Scales of the rows of an int8 out_proj_weight, [E].
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
