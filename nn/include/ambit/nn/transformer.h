// MultiheadAttention, and Transformer with its layers. Shapes: S source steps, L target steps, N
// sequences, E embed_dim or d_model. Masks: bool, true at positions that are masked out; or
// floating point, added to the scores. Source: Vaswani et al. 2017, arXiv:1706.03762.
#pragma once

#include <ambit/nn/any_module.h>
#include <ambit/nn/cloneable.h>
#include <ambit/nn/dropout.h>
#include <ambit/nn/init.h>
#include <ambit/nn/linear.h>
#include <ambit/nn/module_list.h>
#include <ambit/nn/normalization.h>
#include <ambit/nn/options.h>
#include <ambit/nn/quantizable.h>
#include <ambit/ops/attention.h>

#include <concepts>
#include <functional>
#include <optional>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace ambit {
/// Type of libtorch's kGELU, a transformer layer's activation.
struct GELUActivation {};
/// The activation gelu(), exact.
inline constexpr GELUActivation kGELU;
}  // namespace ambit

namespace ambit::nn {

namespace functional {

using ambit::scaled_dot_product_attention;

}  // namespace functional

/// Options of MultiheadAttention.
class MultiheadAttentionOptions : public Options<MultiheadAttentionOptions> {
 public:
  MultiheadAttentionOptions(int64_t embed_dim, int64_t num_heads)
      : embed_dim_(embed_dim), num_heads_(num_heads), kdim_(embed_dim), vdim_(embed_dim) {}

  /// Features of queries and output, E; a multiple of num_heads.
  AMBIT_OPTION(MultiheadAttentionOptions, int64_t, embed_dim);
  /// Number of heads, each of which attends with E / num_heads features.
  AMBIT_OPTION(MultiheadAttentionOptions, int64_t, num_heads);
  /// Probability of zeroing an attention weight in training.
  AMBIT_OPTION(MultiheadAttentionOptions, double, dropout) = 0;
  /// Add learned biases in the projections.
  AMBIT_OPTION(MultiheadAttentionOptions, bool, bias) = true;
  /// Append a learned key and value to each sequence.
  AMBIT_OPTION(MultiheadAttentionOptions, bool, add_bias_kv) = false;
  /// Append a key and value of zeros to each sequence.
  AMBIT_OPTION(MultiheadAttentionOptions, bool, add_zero_attn) = false;
  /// Features of keys. Default: embed_dim.
  AMBIT_OPTION(MultiheadAttentionOptions, int64_t, kdim);
  /// Features of values. Default: embed_dim.
  AMBIT_OPTION(MultiheadAttentionOptions, int64_t, vdim);
};

/// Multi-head attention: projections of query, key and value, scaled_dot_product_attention for each
/// head, and an output projection. Parameters as in PyTorch: in_proj_weight [3 E, E] (or q_, k_,
/// v_proj_weight if kdim or vdim differ from E), in_proj_bias [3 E], out_proj, bias_k and bias_v
/// [1,1,E] with add_bias_kv. Errors: Error if num_heads does not divide embed_dim; of forward
/// ShapeError, DTypeError, DeviceMismatchError.
class AMBIT_API MultiheadAttentionImpl : public Cloneable<MultiheadAttentionImpl>,
                                         public Quantizable {
 public:
  MultiheadAttentionImpl(int64_t embed_dim, int64_t num_heads);
  explicit MultiheadAttentionImpl(const MultiheadAttentionOptions& opts);
  void reset() override;
  /// Reinitialise input projections by xavier_uniform_, bias_k, bias_v by xavier_normal_, biases to
  /// 0.
  void _reset_parameters();
  /// query [L,N,E], key [S,N,kdim], value [S,N,vdim]; key_padding_mask [N,S]: true for keys that
  /// are padding; attn_mask [L,S] or [N num_heads, L, S] -> the output [L,N,E] and, with
  /// need_weights, the attention weights: their mean over heads [N,L,S], or per head [N, num_heads,
  /// L, S].
  std::tuple<Tensor, Tensor> forward(const Tensor& query, const Tensor& key, const Tensor& value,
                                     const Tensor& key_padding_mask = {}, bool need_weights = true,
                                     const Tensor& attn_mask = {},
                                     bool average_attn_weights = true);

  std::vector<QuantizableWeight> quantizable_weights() override;

  MultiheadAttentionOptions options;
  /// See the class; those that the options exclude are undefined.
  Tensor in_proj_weight, in_proj_bias, q_proj_weight, k_proj_weight, v_proj_weight, bias_k, bias_v;
  /// Row scales of int8 weights, else undefined; see quantize.h.
  Tensor in_proj_weight_scale, q_proj_weight_scale, k_proj_weight_scale, v_proj_weight_scale;
  /// The projection of the concatenated heads, E to E features.
  Linear out_proj{nullptr};
  bool _qkv_same_embed_dim = true;  ///< kdim and vdim equal E
  int64_t head_dim = 0;             ///< E / num_heads

 private:
  friend AnyModule;
  static AnyModule::Defaults forward_defaults() {
    return {
        {3, AnyValue(Tensor())}, {4, AnyValue(true)}, {5, AnyValue(Tensor())}, {6, AnyValue(true)}};
  }
};
AMBIT_MODULE(MultiheadAttention);

/// The activation between the two linear layers of a transformer layer: kReLU, kGELU or a function.
class TransformerActivation {
 public:
  /// kReLU; another value is an error when the activation is applied.
  TransformerActivation(init::Nonlinearity relu) : nonlinearity_(relu) {}
  /// The activation gelu(), exact.
  TransformerActivation(GELUActivation) : gelu_(true) {}
  /// A function from Tensor to Tensor.
  template <class F>
  requires(!std::same_as<std::remove_cvref_t<F>, TransformerActivation> &&
           std::is_invocable_r_v<Tensor, F&, const Tensor&>) TransformerActivation(F&& function)
      : function_(std::forward<F>(function)) {}
  /// Apply the activation. Errors of both: Error for a nonlinearity other than kReLU.
  AMBIT_API Tensor operator()(const Tensor& x) const;
  /// Apply the activation to layer(x), fused where possible.
  AMBIT_API Tensor after(const Linear& layer, const Tensor& x) const;

 private:
  UnaryOp map() const;

  init::Nonlinearity nonlinearity_ = init::Nonlinearity::relu;
  bool gelu_ = false;
  std::function<Tensor(const Tensor&)> function_;
};

/// Options of TransformerEncoderLayer and TransformerDecoderLayer.
class TransformerLayerOptions : public Options<TransformerLayerOptions> {
 public:
  TransformerLayerOptions(int64_t d_model, int64_t nhead) : d_model_(d_model), nhead_(nhead) {}

  /// Features of the input and output, E.
  AMBIT_OPTION(TransformerLayerOptions, int64_t, d_model);
  /// Number of attention heads; divides d_model.
  AMBIT_OPTION(TransformerLayerOptions, int64_t, nhead);
  /// Features between the two linear layers.
  AMBIT_OPTION(TransformerLayerOptions, int64_t, dim_feedforward) = 2048;
  /// Probability of all dropout layers, including that of the attention weights.
  AMBIT_OPTION(TransformerLayerOptions, double, dropout) = 0.1;
  /// Activation between the two linear layers: kReLU, kGELU or a function.
  AMBIT_OPTION(TransformerLayerOptions, TransformerActivation,
               activation) = init::Nonlinearity::relu;
};
using TransformerEncoderLayerOptions = TransformerLayerOptions;
using TransformerDecoderLayerOptions = TransformerLayerOptions;

/// y = norm2(x' + linear2(activation(linear1(x')))), x' = norm1(x + self_attn(x)), with dropout.
class AMBIT_API TransformerEncoderLayerImpl : public Cloneable<TransformerEncoderLayerImpl> {
 public:
  TransformerEncoderLayerImpl(int64_t d_model, int64_t nhead);
  explicit TransformerEncoderLayerImpl(const TransformerEncoderLayerOptions& opts);
  void reset() override;
  /// Reinitialise all submodules with random values.
  void reset_parameters();
  /// src [S,N,E], src_mask [S,S], src_key_padding_mask [N,S] -> [S,N,E].
  Tensor forward(const Tensor& src, const Tensor& src_mask = {},
                 const Tensor& src_key_padding_mask = {});

  TransformerEncoderLayerOptions options;
  /// The submodules of the formula of the class; dropout is between the linear layers, dropout1 and
  /// dropout2 are before the additions.
  MultiheadAttention self_attn{nullptr};
  /// E to dim_feedforward features, and back.
  Linear linear1{nullptr}, linear2{nullptr};
  /// Between the linear layers; the others before each addition.
  Dropout dropout{nullptr}, dropout1{nullptr}, dropout2{nullptr};
  /// After each addition.
  LayerNorm norm1{nullptr}, norm2{nullptr};

 private:
  friend AnyModule;
  static AnyModule::Defaults forward_defaults() { return AnyModule::undefined(1, 3); }
};
AMBIT_MODULE(TransformerEncoderLayer);

/// Like the encoder layer, with attention to the encoder's output (memory) in between, and three
/// norms.
class AMBIT_API TransformerDecoderLayerImpl : public Cloneable<TransformerDecoderLayerImpl> {
 public:
  TransformerDecoderLayerImpl(int64_t d_model, int64_t nhead);
  explicit TransformerDecoderLayerImpl(const TransformerDecoderLayerOptions& opts);
  void reset() override;
  /// Reinitialise all submodules with random values.
  void reset_parameters();
  /// tgt [L,N,E], memory [S,N,E] and their masks -> [L,N,E].
  Tensor forward(Tensor tgt, const Tensor& memory, const Tensor& tgt_mask = {},
                 const Tensor& memory_mask = {}, const Tensor& tgt_key_padding_mask = {},
                 const Tensor& memory_key_padding_mask = {});

  TransformerDecoderLayerOptions options;
  /// Attention to the target itself, then to the memory.
  MultiheadAttention self_attn{nullptr}, multihead_attn{nullptr};
  /// E to dim_feedforward features, and back.
  Linear linear1{nullptr}, linear2{nullptr};
  /// Between the linear layers; the others before each addition.
  Dropout dropout{nullptr}, dropout1{nullptr}, dropout2{nullptr}, dropout3{nullptr};
  /// After each addition.
  LayerNorm norm1{nullptr}, norm2{nullptr}, norm3{nullptr};

 private:
  friend AnyModule;
  static AnyModule::Defaults forward_defaults() { return AnyModule::undefined(2, 6); }
};
AMBIT_MODULE(TransformerDecoderLayer);

/// Options of TransformerEncoder.
class AMBIT_API TransformerEncoderOptions : public Options<TransformerEncoderOptions> {
 public:
  TransformerEncoderOptions(TransformerEncoderLayer encoder_layer, int64_t num_layers);
  TransformerEncoderOptions(const TransformerEncoderLayerOptions& layer, int64_t num_layers);

  /// The layer that is cloned num_layers times.
  AMBIT_OPTION(TransformerEncoderOptions, TransformerEncoderLayer, encoder_layer);
  /// Number of layers that run one after the other.
  AMBIT_OPTION(TransformerEncoderOptions, int64_t, num_layers);
  /// Applied to the output of the last layer. Default: empty, so none.
  AMBIT_OPTION(TransformerEncoderOptions, AnyModule, norm);
};

/// num_layers clones of the layer, reinitialised by reset_parameters(), then a clone of the norm,
/// if given.
class AMBIT_API TransformerEncoderImpl : public Cloneable<TransformerEncoderImpl> {
 public:
  TransformerEncoderImpl(TransformerEncoderLayer encoder_layer, int64_t num_layers);
  explicit TransformerEncoderImpl(TransformerEncoderOptions opts);
  void reset() override;
  /// Reinitialise the layers with random values, and replace the norm by a new clone of the option.
  void reset_parameters();
  /// Shapes as in TransformerEncoderLayer.
  Tensor forward(const Tensor& src, const Tensor& src_mask = {},
                 const Tensor& src_key_padding_mask = {});

  TransformerEncoderOptions options;
  /// The layers, of class TransformerEncoderLayerImpl.
  ModuleList layers{nullptr};
  /// The norm; empty if none.
  AnyModule norm;

 private:
  friend AnyModule;
  static AnyModule::Defaults forward_defaults() { return AnyModule::undefined(1, 3); }
};
AMBIT_MODULE(TransformerEncoder);

/// Options of TransformerDecoder.
class AMBIT_API TransformerDecoderOptions : public Options<TransformerDecoderOptions> {
 public:
  TransformerDecoderOptions(TransformerDecoderLayer decoder_layer, int64_t num_layers);
  TransformerDecoderOptions(const TransformerDecoderLayerOptions& layer, int64_t num_layers);

  /// The layer that is cloned num_layers times.
  AMBIT_OPTION(TransformerDecoderOptions, TransformerDecoderLayer, decoder_layer);
  /// Number of layers that run one after the other.
  AMBIT_OPTION(TransformerDecoderOptions, int64_t, num_layers);
  /// Applied to the output of the last layer. Default: empty, so none.
  AMBIT_OPTION(TransformerDecoderOptions, AnyModule, norm);
};

/// num_layers clones of the layer, reinitialised by reset_parameters(), then a clone of the norm,
/// if given.
class AMBIT_API TransformerDecoderImpl : public Cloneable<TransformerDecoderImpl> {
 public:
  TransformerDecoderImpl(TransformerDecoderLayer decoder_layer, int64_t num_layers);
  explicit TransformerDecoderImpl(TransformerDecoderOptions opts);
  void reset() override;
  /// Reinitialise the layers with random values, and replace the norm by a new clone of the option.
  void reset_parameters();
  /// Shapes as in TransformerDecoderLayer.
  Tensor forward(const Tensor& tgt, const Tensor& memory, const Tensor& tgt_mask = {},
                 const Tensor& memory_mask = {}, const Tensor& tgt_key_padding_mask = {},
                 const Tensor& memory_key_padding_mask = {});

  TransformerDecoderOptions options;
  /// The layers, of class TransformerDecoderLayerImpl.
  ModuleList layers{nullptr};
  /// The norm; empty if none.
  AnyModule norm;

 private:
  friend AnyModule;
  static AnyModule::Defaults forward_defaults() { return AnyModule::undefined(2, 6); }
};
AMBIT_MODULE(TransformerDecoder);

/// Options of Transformer.
class TransformerOptions : public Options<TransformerOptions> {
 public:
  TransformerOptions() = default;
  TransformerOptions(int64_t d_model, int64_t nhead) : d_model_(d_model), nhead_(nhead) {}
  TransformerOptions(int64_t d_model, int64_t nhead, int64_t encoders, int64_t decoders)
      : d_model_(d_model),
        nhead_(nhead),
        num_encoder_layers_(encoders),
        num_decoder_layers_(decoders) {}

  /// Features of the inputs and output, E.
  AMBIT_OPTION(TransformerOptions, int64_t, d_model) = 512;
  /// Number of attention heads; divides d_model.
  AMBIT_OPTION(TransformerOptions, int64_t, nhead) = 8;
  /// Number of encoder layers; unused with custom_encoder.
  AMBIT_OPTION(TransformerOptions, int64_t, num_encoder_layers) = 6;
  /// Number of decoder layers; unused with custom_decoder.
  AMBIT_OPTION(TransformerOptions, int64_t, num_decoder_layers) = 6;
  /// Features between the two linear layers of each layer.
  AMBIT_OPTION(TransformerOptions, int64_t, dim_feedforward) = 2048;
  /// Probability of all dropout layers, including that of the attention weights.
  AMBIT_OPTION(TransformerOptions, double, dropout) = 0.1;
  /// Activation between the two linear layers: kReLU, kGELU or a function.
  AMBIT_OPTION(TransformerOptions, TransformerActivation, activation) = init::Nonlinearity::relu;
  /// Module that is cloned instead of the encoder; its forward() has the arguments of
  /// TransformerEncoder's. Default: empty.
  AMBIT_OPTION(TransformerOptions, AnyModule, custom_encoder);
  /// Module that is cloned instead of the decoder; its forward() has the arguments of
  /// TransformerDecoder's. Default: empty.
  AMBIT_OPTION(TransformerOptions, AnyModule, custom_decoder);
};

/// An encoder and a decoder, each followed by a norm; matrices are initialised by xavier_uniform_.
/// Errors: Error if nhead does not divide d_model.
class AMBIT_API TransformerImpl : public Cloneable<TransformerImpl> {
 public:
  explicit TransformerImpl(const TransformerOptions& opts = {});
  void reset() override;
  /// Reinitialise parameters with more than one dim by xavier_uniform_.
  void reset_parameters();
  /// src [S,N,E], tgt [L,N,E] and their masks -> [L,N,E].
  Tensor forward(const Tensor& src, const Tensor& tgt, const Tensor& src_mask = {},
                 const Tensor& tgt_mask = {}, const Tensor& memory_mask = {},
                 const Tensor& src_key_padding_mask = {}, const Tensor& tgt_key_padding_mask = {},
                 const Tensor& memory_key_padding_mask = {});
  /// Return a mask [size,size] to be added to the scores: -inf above the diagonal, else 0. Errors:
  /// ShapeError.
  static Tensor generate_square_subsequent_mask(int64_t size);

  TransformerOptions options;
  /// A TransformerEncoder and a TransformerDecoder, or clones of the custom modules.
  AnyModule encoder, decoder;

 private:
  friend AnyModule;
  static AnyModule::Defaults forward_defaults() { return AnyModule::undefined(2, 8); }
};
AMBIT_MODULE(Transformer);

}  // namespace ambit::nn
