// MultiheadAttention and Transformer.
#include <ambit/autograd.h>
#include <ambit/detail/activation.h>
#include <ambit/nn/functional.h>
#include <ambit/nn/functional/attention.h>
#include <ambit/nn/transformer.h>
#include <ambit/ops/arrange.h>
#include <ambit/ops/creation.h>
#include <ambit/ops/elementwise.h>
#include <ambit/ops/matmul.h>
#include <ambit/ops/norm.h>
#include <ambit/ops/random.h>
#include <ambit/ops/reduce.h>
#include <ambit/ops/shape.h>

#include <cmath>
#include <limits>

#include "nn/functional/check.h"
#include "quantized_linear.h"

namespace ambit::nn {

// --- MultiheadAttention

MultiheadAttentionImpl::MultiheadAttentionImpl(int64_t embed_dim, int64_t num_heads)
    : MultiheadAttentionImpl(MultiheadAttentionOptions(embed_dim, num_heads)) {}
MultiheadAttentionImpl::MultiheadAttentionImpl(const MultiheadAttentionOptions& opts)
    : options(opts) {
  if (opts.embed_dim() < 1 || opts.num_heads() < 1 || opts.embed_dim() % opts.num_heads() != 0) {
    throw Error(
        fmt::format("MultiheadAttention: expected num_heads that divide embed_dim, got {} and {}",
                    opts.num_heads(), opts.embed_dim()));
  }
  MultiheadAttentionImpl::reset();
}

void MultiheadAttentionImpl::reset() {
  const bool is_int8 = in_proj_weight_scale.defined() || q_proj_weight_scale.defined();
  in_proj_weight_scale = q_proj_weight_scale = k_proj_weight_scale = v_proj_weight_scale = {};
  const int64_t e = options.embed_dim();
  head_dim = e / options.num_heads();
  _qkv_same_embed_dim = options.kdim() == e && options.vdim() == e;
  const bool one = _qkv_same_embed_dim, kv = options.add_bias_kv();
  const auto parameter = [&](const char* name, bool wanted, IntArrayRef sizes) {
    return register_parameter(name, wanted ? empty(sizes) : Tensor(), wanted);
  };
  in_proj_weight = parameter("in_proj_weight", one, {3 * e, e});
  q_proj_weight = parameter("q_proj_weight", !one, {e, e});
  k_proj_weight = parameter("k_proj_weight", !one, {e, options.kdim()});
  v_proj_weight = parameter("v_proj_weight", !one, {e, options.vdim()});
  in_proj_bias = parameter("in_proj_bias", options.bias(), {3 * e});
  out_proj = Linear(LinearOptions(e, e).bias(options.bias()));
  register_module("out_proj", out_proj);
  bias_k = parameter("bias_k", kv, {1, 1, e});
  bias_v = parameter("bias_v", kv, {1, 1, e});
  _reset_parameters();
  if (is_int8) quantize_again(*this);
}

std::vector<QuantizableWeight> MultiheadAttentionImpl::quantizable_weights() {
  return {{"in_proj_weight", in_proj_weight, in_proj_weight_scale},
          {"q_proj_weight", q_proj_weight, q_proj_weight_scale},
          {"k_proj_weight", k_proj_weight, k_proj_weight_scale},
          {"v_proj_weight", v_proj_weight, v_proj_weight_scale}};
}

void MultiheadAttentionImpl::_reset_parameters() {
  for (const Tensor& w : {in_proj_weight, q_proj_weight, k_proj_weight, v_proj_weight}) {
    if (w.defined()) init::xavier_uniform_(w);
  }
  if (in_proj_bias.defined()) {
    init::zeros_(in_proj_bias);
    init::zeros_(out_proj->bias);
  }
  if (bias_k.defined()) init::xavier_normal_(bias_k);
  if (bias_v.defined()) init::xavier_normal_(bias_v);
}

std::tuple<Tensor, Tensor> MultiheadAttentionImpl::forward(
    const Tensor& query, const Tensor& key, const Tensor& value, const Tensor& key_padding_mask,
    bool need_weights, const Tensor& attn_mask, bool average_attn_weights) {
  constexpr const char* kName = "multi_head_attention";
  functional::check_floating(kName, query);
  functional::check_same_device(kName, {{"query", query},
                                        {"key", key},
                                        {"value", value},
                                        {"key_padding_mask", key_padding_mask},
                                        {"attn_mask", attn_mask},
                                        {"weights", parameters()},
                                        {"weights", buffers()}});
  using functional::MultiheadAttentionForwardFuncOptions;
  return functional::multi_head_attention_forward(
      query, key, value,
      MultiheadAttentionForwardFuncOptions(options.embed_dim(), options.num_heads(), in_proj_weight,
                                           in_proj_bias, bias_k, bias_v, options.add_zero_attn(),
                                           options.dropout(), out_proj->weight, out_proj->bias)
          .training(is_training())
          .key_padding_mask(key_padding_mask)
          .need_weights(need_weights)
          .attn_mask(attn_mask)
          .use_separate_proj_weight(!_qkv_same_embed_dim)
          .q_proj_weight(q_proj_weight)
          .k_proj_weight(k_proj_weight)
          .v_proj_weight(v_proj_weight)
          .average_attn_weights(average_attn_weights)
          .in_proj_weight_scale(in_proj_weight_scale)
          .q_proj_weight_scale(q_proj_weight_scale)
          .k_proj_weight_scale(k_proj_weight_scale)
          .v_proj_weight_scale(v_proj_weight_scale)
          .out_proj_weight_scale(out_proj->weight_scale));
}

// --- layers

UnaryOp TransformerActivation::map() const {
  if (gelu_) return UnaryOp::gelu;
  if (nonlinearity_ != init::Nonlinearity::relu) {
    throw Error("transformer: expected the activation kReLU, kGELU or a function, got another");
  }
  return UnaryOp::relu;
}

Tensor TransformerActivation::operator()(const Tensor& x) const {
  return function_ ? function_(x) : activated(x, map());
}

Tensor TransformerActivation::after(const Linear& layer, const Tensor& x) const {
  return function_ ? function_(layer->forward(x)) : layer->forward_map(x, map());
}

TransformerEncoderLayerImpl::TransformerEncoderLayerImpl(int64_t d_model, int64_t nhead)
    : TransformerEncoderLayerImpl(TransformerEncoderLayerOptions(d_model, nhead)) {}
TransformerEncoderLayerImpl::TransformerEncoderLayerImpl(const TransformerEncoderLayerOptions& opts)
    : options(opts) {
  TransformerEncoderLayerImpl::reset();
}

void TransformerEncoderLayerImpl::reset() {
  const int64_t e = options.d_model(), wide = options.dim_feedforward();
  const double p = options.dropout();
  self_attn = MultiheadAttention(MultiheadAttentionOptions(e, options.nhead()).dropout(p));
  linear1 = Linear(e, wide);
  dropout = Dropout(p);
  linear2 = Linear(wide, e);
  norm1 = LayerNorm(LayerNormOptions(e));
  norm2 = LayerNorm(LayerNormOptions(e));
  dropout1 = Dropout(p);
  dropout2 = Dropout(p);
  register_module("self_attn", self_attn);
  register_module("linear1", linear1);
  register_module("dropout", dropout);
  register_module("linear2", linear2);
  register_module("norm1", norm1);
  register_module("norm2", norm2);
  register_module("dropout1", dropout1);
  register_module("dropout2", dropout2);
}

void TransformerEncoderLayerImpl::reset_parameters() {
  self_attn->_reset_parameters();
  for (const Linear& linear : {linear1, linear2}) linear->reset_parameters();
  for (const LayerNorm& norm : {norm1, norm2}) norm->reset_parameters();
}

Tensor TransformerEncoderLayerImpl::forward(const Tensor& src, const Tensor& src_mask,
                                            const Tensor& src_key_padding_mask) {
  const auto attended =
      std::get<0>(self_attn(src, src, src, src_key_padding_mask, /*need_weights=*/false, src_mask));
  const Tensor x = norm1(src + dropout1(attended));
  return norm2(x + dropout2(linear2(dropout(options.activation().after(linear1, x)))));
}

TransformerDecoderLayerImpl::TransformerDecoderLayerImpl(int64_t d_model, int64_t nhead)
    : TransformerDecoderLayerImpl(TransformerDecoderLayerOptions(d_model, nhead)) {}
TransformerDecoderLayerImpl::TransformerDecoderLayerImpl(const TransformerDecoderLayerOptions& opts)
    : options(opts) {
  TransformerDecoderLayerImpl::reset();
}

void TransformerDecoderLayerImpl::reset() {
  const int64_t e = options.d_model(), wide = options.dim_feedforward();
  const double p = options.dropout();
  const auto attention = MultiheadAttentionOptions(e, options.nhead()).dropout(p);
  self_attn = MultiheadAttention(attention);
  multihead_attn = MultiheadAttention(attention);
  linear1 = Linear(e, wide);
  dropout = Dropout(p);
  linear2 = Linear(wide, e);
  register_module("self_attn", self_attn);
  register_module("multihead_attn", multihead_attn);
  register_module("linear1", linear1);
  register_module("dropout", dropout);
  register_module("linear2", linear2);
  for (auto [name, norm] : {std::pair("norm1", &norm1), {"norm2", &norm2}, {"norm3", &norm3}}) {
    *norm = LayerNorm(LayerNormOptions(e));
    register_module(name, *norm);
  }
  for (auto [name, drop] :
       {std::pair("dropout1", &dropout1), {"dropout2", &dropout2}, {"dropout3", &dropout3}}) {
    *drop = Dropout(p);
    register_module(name, *drop);
  }
}

void TransformerDecoderLayerImpl::reset_parameters() {
  for (const MultiheadAttention& m : {self_attn, multihead_attn}) m->_reset_parameters();
  for (const Linear& linear : {linear1, linear2}) linear->reset_parameters();
  for (const LayerNorm& norm : {norm1, norm2, norm3}) norm->reset_parameters();
}

Tensor TransformerDecoderLayerImpl::forward(Tensor tgt, const Tensor& memory,
                                            const Tensor& tgt_mask, const Tensor& memory_mask,
                                            const Tensor& tgt_key_padding_mask,
                                            const Tensor& memory_key_padding_mask) {
  const auto own =
      std::get<0>(self_attn(tgt, tgt, tgt, tgt_key_padding_mask, /*need_weights=*/false, tgt_mask));
  tgt = norm1(tgt + dropout1(own));
  const auto seen = std::get<0>(multihead_attn(tgt, memory, memory, memory_key_padding_mask,
                                               /*need_weights=*/false, memory_mask));
  tgt = norm2(tgt + dropout2(seen));
  return norm3(tgt + dropout3(linear2(dropout(options.activation().after(linear1, tgt)))));
}

// --- encoder and decoder

namespace {

// Return `n` clones of a layer.
template <class Layer>
ModuleList clones(const char* module, const Layer& layer, int64_t n) {
  if (n < 1) throw Error(fmt::format("{}: expected num_layers of at least 1, got {}", module, n));
  ModuleList layers;
  for (int64_t i = 0; i < n; ++i) layers->push_back(layer->clone());
  return layers;
}

// Set the norm of an encoder or decoder to a clone of `given`, if that is not empty.
void set_norm(Module& stack, AnyModule& norm, const AnyModule& given) {
  norm = given.clone();
  if (!norm.is_empty()) stack.register_module("norm", norm.ptr());
}

}  // namespace

TransformerEncoderOptions::TransformerEncoderOptions(TransformerEncoderLayer encoder_layer,
                                                     int64_t num_layers)
    : encoder_layer_(std::move(encoder_layer)), num_layers_(num_layers) {}
TransformerEncoderOptions::TransformerEncoderOptions(const TransformerEncoderLayerOptions& layer,
                                                     int64_t num_layers)
    : encoder_layer_(layer), num_layers_(num_layers) {}

TransformerDecoderOptions::TransformerDecoderOptions(TransformerDecoderLayer decoder_layer,
                                                     int64_t num_layers)
    : decoder_layer_(std::move(decoder_layer)), num_layers_(num_layers) {}
TransformerDecoderOptions::TransformerDecoderOptions(const TransformerDecoderLayerOptions& layer,
                                                     int64_t num_layers)
    : decoder_layer_(layer), num_layers_(num_layers) {}

TransformerEncoderImpl::TransformerEncoderImpl(TransformerEncoderLayer encoder_layer,
                                               int64_t num_layers)
    : TransformerEncoderImpl(TransformerEncoderOptions(std::move(encoder_layer), num_layers)) {}
TransformerEncoderImpl::TransformerEncoderImpl(TransformerEncoderOptions opts)
    : options(std::move(opts)) {
  TransformerEncoderImpl::reset();
}

void TransformerEncoderImpl::reset() {
  layers = clones("TransformerEncoder", options.encoder_layer(), options.num_layers());
  register_module("layers", layers);
  set_norm(*this, norm, options.norm());
}

void TransformerEncoderImpl::reset_parameters() {
  for (const auto& layer : *layers) layer->as<TransformerEncoderLayer>()->reset_parameters();
  if (!norm.is_empty()) unregister_module("norm");
  set_norm(*this, norm, options.norm());
}

Tensor TransformerEncoderImpl::forward(const Tensor& src, const Tensor& src_mask,
                                       const Tensor& src_key_padding_mask) {
  Tensor x = src;
  for (const auto& layer : *layers) {
    x = layer->as<TransformerEncoderLayer>()->forward(x, src_mask, src_key_padding_mask);
  }
  return norm.is_empty() ? x : norm.forward(x);
}

TransformerDecoderImpl::TransformerDecoderImpl(TransformerDecoderLayer decoder_layer,
                                               int64_t num_layers)
    : TransformerDecoderImpl(TransformerDecoderOptions(std::move(decoder_layer), num_layers)) {}
TransformerDecoderImpl::TransformerDecoderImpl(TransformerDecoderOptions opts)
    : options(std::move(opts)) {
  TransformerDecoderImpl::reset();
}

void TransformerDecoderImpl::reset() {
  layers = clones("TransformerDecoder", options.decoder_layer(), options.num_layers());
  register_module("layers", layers);
  set_norm(*this, norm, options.norm());
}

void TransformerDecoderImpl::reset_parameters() {
  for (const auto& layer : *layers) layer->as<TransformerDecoderLayer>()->reset_parameters();
  if (!norm.is_empty()) unregister_module("norm");
  set_norm(*this, norm, options.norm());
}

Tensor TransformerDecoderImpl::forward(const Tensor& tgt, const Tensor& memory,
                                       const Tensor& tgt_mask, const Tensor& memory_mask,
                                       const Tensor& tgt_key_padding_mask,
                                       const Tensor& memory_key_padding_mask) {
  Tensor x = tgt;
  for (const auto& layer : *layers) {
    x = layer->as<TransformerDecoderLayer>()->forward(
        x, memory, tgt_mask, memory_mask, tgt_key_padding_mask, memory_key_padding_mask);
  }
  return norm.is_empty() ? x : norm.forward(x);
}

// --- Transformer

TransformerImpl::TransformerImpl(const TransformerOptions& opts) : options(opts) {
  TransformerImpl::reset();
}

void TransformerImpl::reset() {
  const auto layer = TransformerLayerOptions(options.d_model(), options.nhead())
                         .dim_feedforward(options.dim_feedforward())
                         .dropout(options.dropout())
                         .activation(options.activation());
  const auto norm = [&] { return AnyModule(LayerNorm(LayerNormOptions(options.d_model()))); };
  encoder = options.custom_encoder().clone();
  if (encoder.is_empty()) {
    encoder = TransformerEncoder(
        TransformerEncoderOptions(layer, options.num_encoder_layers()).norm(norm()));
  }
  decoder = options.custom_decoder().clone();
  if (decoder.is_empty()) {
    decoder = TransformerDecoder(
        TransformerDecoderOptions(layer, options.num_decoder_layers()).norm(norm()));
  }
  register_module("encoder", encoder.ptr());
  register_module("decoder", decoder.ptr());
  reset_parameters();
}

void TransformerImpl::reset_parameters() {
  for (const Tensor& p : parameters()) {
    if (p.dim() > 1) init::xavier_uniform_(p);
  }
}

Tensor TransformerImpl::forward(const Tensor& src, const Tensor& tgt, const Tensor& src_mask,
                                const Tensor& tgt_mask, const Tensor& memory_mask,
                                const Tensor& src_key_padding_mask,
                                const Tensor& tgt_key_padding_mask,
                                const Tensor& memory_key_padding_mask) {
  const Tensor memory = encoder.forward(src, src_mask, src_key_padding_mask);
  return decoder.forward(tgt, memory, tgt_mask, memory_mask, tgt_key_padding_mask,
                         memory_key_padding_mask);
}

Tensor TransformerImpl::generate_square_subsequent_mask(int64_t size) {
  return triu(full({size, size}, -std::numeric_limits<double>::infinity()), 1);
}

}  // namespace ambit::nn
