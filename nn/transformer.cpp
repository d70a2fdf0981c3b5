// MultiheadAttention and the Transformer.
#include <ambit/autograd.h>
#include <ambit/nn/functional.h>
#include <ambit/nn/transformer.h>
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

namespace ambit::nn {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// 1 above the diagonal, where a query would see later keys: bool [l,s].
Tensor later(int64_t l, int64_t s, Device device) {
  const TensorOptions options = TensorOptions(kInt64).device(device);
  return arange(s, options).unsqueeze(0) > arange(l, options).unsqueeze(1);
}

// The mask as what is added to scores: -inf where a bool one is true.
Tensor added(const Tensor& mask, const Tensor& like) {
  if (!mask.defined() || mask.is_floating_point()) return mask;
  if (mask.dtype() != kBool && mask.dtype() != kUInt8) {
    throw DTypeError(fmt::format("attention: expected a mask of bool or floating point, got {}",
                                 name(mask.dtype())));
  }
  return zeros(mask.sizes(), like.options()).masked_fill(mask != 0, -kInfinity);
}

}  // namespace

// --- MultiheadAttention

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
  const int64_t e = options.embed_dim();
  const bool one = options.kdim() == e && options.vdim() == e, kv = options.add_bias_kv();
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
  reset_parameters();
}

void MultiheadAttentionImpl::reset_parameters() {
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
                                        {"weights", parameters()}});
  const int64_t e = options.embed_dim(), heads = options.num_heads(), head = e / heads;
  if (query.dim() != 3 || key.dim() != 3 || value.dim() != 3 || query.size(2) != e ||
      key.size(2) != options.kdim() || value.size(2) != options.vdim() ||
      key.size(0) != value.size(0) || key.size(1) != query.size(1) ||
      value.size(1) != query.size(1)) {
    throw ShapeError(fmt::format(
        "{}: expected query [L,N,{}], key [S,N,{}] and value [S,N,{}], got {}, {} and {}", kName, e,
        options.kdim(), options.vdim(), str(query.sizes()), str(key.sizes()), str(value.sizes())));
  }
  const int64_t l = query.size(0), n = query.size(1);
  const auto projected = [&](const Tensor& x, int64_t part, const Tensor& own) {
    const Tensor w = own.defined() ? own : in_proj_weight.narrow(0, part * e, e);
    return linear(x, w, in_proj_bias.defined() ? in_proj_bias.narrow(0, part * e, e) : Tensor());
  };
  const Tensor q = projected(query, 0, q_proj_weight);
  Tensor k = projected(key, 1, k_proj_weight), v = projected(value, 2, v_proj_weight);
  int64_t extra = 0;  // keys behind those given, which every query sees
  if (bias_k.defined()) {
    k = cat({k, bias_k.expand({1, n, e})}, 0);
    v = cat({v, bias_v.expand({1, n, e})}, 0);
    ++extra;
  }
  if (options.add_zero_attn()) {
    const Tensor none = zeros({1, n, e}, k.options());
    k = cat({k, none}, 0);
    v = cat({v, none}, 0);
    ++extra;
  }
  const int64_t s = k.size(0);
  // [T,N,E] -> [N,heads,T,head]
  const auto by_head = [&](const Tensor& x) {
    return x.reshape({-1, n, heads, head}).permute({1, 2, 0, 3});
  };
  const auto seen = [&](const Tensor& mask) {
    if (extra == 0) return mask;
    Dims sizes(mask.sizes());
    sizes[sizes.size() - 1] = extra;
    return cat({mask, zeros(sizes, mask.options())}, -1);
  };
  const int64_t given = s - extra;
  Tensor masks;  // added to scores [N,heads,L,S]
  if (attn_mask.defined()) {
    const bool each = attn_mask.dim() == 3;
    if (attn_mask.sizes() != (each ? IntArrayRef{n * heads, l, given} : IntArrayRef{l, given})) {
      throw ShapeError(
          fmt::format("{}: expected attn_mask of shape [{}, {}] or [{}, {}, {}], got {}", kName, l,
                      given, n * heads, l, given, str(attn_mask.sizes())));
    }
    const Tensor mask = seen(added(attn_mask, q));
    masks = each ? mask.view({n, heads, l, s}) : mask;
  }
  if (key_padding_mask.defined()) {
    if (key_padding_mask.sizes() != IntArrayRef{n, given}) {
      throw ShapeError(fmt::format("{}: expected key_padding_mask of shape [{}, {}], got {}", kName,
                                   n, given, str(key_padding_mask.sizes())));
    }
    const Tensor padding = seen(added(key_padding_mask, q)).view({n, 1, 1, s});
    masks = masks.defined() ? masks + padding : padding;
  }
  const auto projected_out = [&](const Tensor& y) {
    return out_proj(y.permute({2, 0, 1, 3}).reshape({l, n, e}));
  };
  if (!need_weights) {
    const double dropout_p = is_training() ? options.dropout() : 0;
    return {projected_out(
                scaled_dot_product_attention(by_head(q), by_head(k), by_head(v), masks, dropout_p)),
            Tensor()};
  }
  Tensor scores =
      matmul(by_head(q) / std::sqrt(static_cast<double>(head)), by_head(k).transpose(-2, -1));
  if (masks.defined()) scores = scores + masks;
  const Tensor weights = dropout(softmax(scores, -1), options.dropout(), is_training());
  const Tensor out = projected_out(matmul(weights, by_head(v)));
  return {out, average_attn_weights ? weights.mean(1) : weights};
}

// --- layers

Tensor TransformerActivation::operator()(const Tensor& x) const {
  if (function_) return function_(x);
  if (gelu_) return gelu(x);
  if (nonlinearity_ != init::Nonlinearity::relu) {
    throw Error("transformer: expected the activation kReLU, kGELU or a function, got another");
  }
  return relu(x);
}

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

Tensor TransformerEncoderLayerImpl::forward(const Tensor& src, const Tensor& src_mask,
                                            const Tensor& src_key_padding_mask) {
  const auto attended =
      std::get<0>(self_attn(src, src, src, src_key_padding_mask, /*need_weights=*/false, src_mask));
  const Tensor x = norm1(src + dropout1(attended));
  return norm2(x + dropout2(linear2(dropout(options.activation()(linear1(x))))));
}

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
  return norm3(tgt + dropout3(linear2(dropout(options.activation()(linear1(tgt))))));
}

// --- stacks of layers

namespace {

// `n` clones of a layer.
template <class Layer>
ModuleList clones(const char* module, const Layer& layer, int64_t n) {
  if (n < 1) throw Error(fmt::format("{}: expected num_layers of at least 1, got {}", module, n));
  ModuleList layers;
  for (int64_t i = 0; i < n; ++i) layers->push_back(layer->clone());
  return layers;
}

}  // namespace

TransformerEncoderImpl::TransformerEncoderImpl(TransformerEncoderOptions opts)
    : options(std::move(opts)) {
  TransformerEncoderImpl::reset();
}

void TransformerEncoderImpl::reset() {
  layers = clones("TransformerEncoder", options.encoder_layer(), options.num_layers());
  register_module("layers", layers);
  if (!options.norm().is_empty()) {
    options.norm(options.norm().clone());
    register_module("norm", options.norm().ptr());
  }
}

Tensor TransformerEncoderImpl::forward(const Tensor& src, const Tensor& src_mask,
                                       const Tensor& src_key_padding_mask) {
  Tensor x = src;
  for (const auto& layer : *layers) {
    x = layer->as<TransformerEncoderLayer>()->forward(x, src_mask, src_key_padding_mask);
  }
  return options.norm().is_empty() ? x : options.norm().forward(x);
}

TransformerDecoderImpl::TransformerDecoderImpl(TransformerDecoderOptions opts)
    : options(std::move(opts)) {
  TransformerDecoderImpl::reset();
}

void TransformerDecoderImpl::reset() {
  layers = clones("TransformerDecoder", options.decoder_layer(), options.num_layers());
  register_module("layers", layers);
  if (!options.norm().is_empty()) {
    options.norm(options.norm().clone());
    register_module("norm", options.norm().ptr());
  }
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
  return options.norm().is_empty() ? x : options.norm().forward(x);
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
  encoder = TransformerEncoder(
      TransformerEncoderOptions(layer, options.num_encoder_layers()).norm(norm()));
  decoder = TransformerDecoder(
      TransformerDecoderOptions(layer, options.num_decoder_layers()).norm(norm()));
  register_module("encoder", encoder);
  register_module("decoder", decoder);
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
  const Tensor memory = encoder(src, src_mask, src_key_padding_mask);
  return decoder(tgt, memory, tgt_mask, memory_mask, tgt_key_padding_mask, memory_key_padding_mask);
}

Tensor TransformerImpl::generate_square_subsequent_mask(int64_t size) {
  return added(later(size, size, Device()), empty({0}));
}

}  // namespace ambit::nn
