// Multi-head attention and the Transformer, without dropout, which is random.
#include "layers.h"

using namespace parity;

namespace {

constexpr int64_t kWidth = 4;
using Pair = std::tuple<Tensor, Tensor>;
constexpr double kRoundings = 4096;  // a chain of norms, products and softmaxes in every layer

Tensor target() { return x({3, 2, kWidth}); }
Tensor source() { return y({5, 2, kWidth}) - 1; }
// Return the mask [T,T], which is -inf above the diagonal.
Tensor future(int64_t steps) {
  return nn::TransformerImpl::generate_square_subsequent_mask(steps).to(torch::kDouble);
}
// [N,S]: the last steps of the second sequence are padding.
Tensor padding(int64_t steps, int64_t count) {
  Tensor mask = torch::zeros({2, steps}, torch::kBool);
  mask[1].slice(0, steps - count, steps).fill_(true);
  return mask;
}

struct Masks {
  Tensor padding, attention;
  bool weights = true, average = true;
};

void run_attention(const std::string& name, const nn::MultiheadAttentionOptions& options,
                   const List& inputs, const Masks& masks = {}) {
  nn::MultiheadAttention m(options);
  report_layer(
      name, *m, inputs,
      [&](const List& a) {
        return outputs(m->forward(a[0], a[1], a[2], masks.padding, masks.weights, masks.attention,
                                  masks.average));
      },
      kRoundings);
}

template <class Holder>
void run(const std::string& name, Holder m, const List& inputs,
         const std::function<Tensor(Holder&, const List&)>& forward) {
  report_layer(
      name, *m, inputs, [&](const List& a) { return List{forward(m, a)}; }, kRoundings);
}

// Construct it with the arguments of a TransformerEncoder or a TransformerDecoder.
struct HalvesImpl : nn::Cloneable<HalvesImpl> {
  HalvesImpl() { reset(); }
  void reset() override { fc = register_module("fc", nn::Linear(kWidth, kWidth)); }
  Tensor forward(const Tensor& src, const Tensor& /*mask*/, const Tensor& padding) {
    return fc(src) * (padding.defined() ? 0.25 : 0.5);
  }
  nn::Linear fc{nullptr};
};
TORCH_MODULE(Halves);
struct SumsImpl : nn::Cloneable<SumsImpl> {
  void reset() override {}
  Tensor forward(const Tensor& tgt, const Tensor& memory, const Tensor& /*tgt_mask*/,
                 const Tensor& /*memory_mask*/, const Tensor& /*tgt_padding*/,
                 const Tensor& /*memory_padding*/) {
    return tgt + memory.sum(0);
  }
};
TORCH_MODULE(Sums);

}  // namespace

PARITY(layers_multihead_attention) {
  using Options = nn::MultiheadAttentionOptions;
  const List in{target(), source(), x({5, 2, kWidth})};
  const Tensor mask = wave({3, 5}, 0.8, torch::kDouble);
  run_attention("MultiheadAttention", Options(kWidth, 2), in);
  run_attention("without bias", Options(kWidth, 2).bias(false), in);
  run_attention("without weights", Options(kWidth, 2), in, {{}, {}, false});
  run_attention("weights of each head", Options(kWidth, 2), in, {{}, {}, true, false});
  run_attention("masked", Options(kWidth, 1), in, {{}, mask});
  run_attention("padded", Options(kWidth, 2), in, {padding(5, 2), mask});
  run_attention("with further keys", Options(kWidth, 2).add_bias_kv(true).add_zero_attn(true), in,
                {padding(5, 2), mask});
  // libtorch 1.13 requires keys and values of the same width, and has no bool masks or masks of
  // each head.
  run_attention("of other widths", Options(kWidth, 2).kdim(3).vdim(3),
                {target(), x({5, 2, 3}), y({5, 2, 3})});
  run_attention("of other widths, with further keys",
                Options(kWidth, 2).kdim(3).vdim(3).add_bias_kv(true).bias(false),
                {target(), x({5, 2, 3}), y({5, 2, 3})}, {padding(5, 1), mask});
  nn::MultiheadAttention itself(Options(kWidth, 2));
  report_layer(
      "of itself", *itself, {target()},
      [&](const List& a) { return outputs(itself->forward(a[0], a[0], a[0])); }, kRoundings);
  report_refusal("heads that do not divide", [] { nn::MultiheadAttention(5, 2); });
}

PARITY(layers_transformer_layers) {
  const auto encoder = [] {
    return nn::TransformerEncoderLayerOptions(kWidth, 2).dim_feedforward(6).dropout(0);
  };
  const auto decoder = [] {
    return nn::TransformerDecoderLayerOptions(kWidth, 2).dim_feedforward(6).dropout(0);
  };
  run<nn::TransformerEncoderLayer>("TransformerEncoderLayer",
                                   nn::TransformerEncoderLayer(encoder()), {source()},
                                   [](auto& m, const List& a) { return m->forward(a[0]); });
  run<nn::TransformerEncoderLayer>(
      "TransformerEncoderLayer masked",
      nn::TransformerEncoderLayer(encoder().activation(torch::kGELU)), {source()},
      [](auto& m, const List& a) { return m->forward(a[0], future(5), padding(5, 2)); });
  run<nn::TransformerEncoderLayer>(
      "TransformerEncoderLayer of its own activation",
      nn::TransformerEncoderLayer(encoder().activation([](const Tensor& t) { return t.tanh(); })),
      {source()}, [](auto& m, const List& a) { return m->forward(a[0]); });
  run<nn::TransformerDecoderLayer>("TransformerDecoderLayer",
                                   nn::TransformerDecoderLayer(decoder()), {target(), source()},
                                   [](auto& m, const List& a) { return m->forward(a[0], a[1]); });
  run<nn::TransformerDecoderLayer>("TransformerDecoderLayer masked",
                                   nn::TransformerDecoderLayer(decoder().activation(torch::kGELU)),
                                   {target(), source()}, [](auto& m, const List& a) {
                                     return m->forward(a[0], a[1], future(3),
                                                       wave({3, 5}, 0.8, torch::kDouble),
                                                       padding(3, 1), padding(5, 2));
                                   });

  run<nn::TransformerEncoder>(
      "TransformerEncoder",
      nn::TransformerEncoder(
          nn::TransformerEncoderOptions(encoder(), 2)
              .norm(nn::AnyModule(nn::LayerNorm(nn::LayerNormOptions({kWidth}))))),
      {source()},
      [](auto& m, const List& a) { return m->forward(a[0], future(5), padding(5, 2)); });
  run<nn::TransformerDecoder>(
      "TransformerDecoder", nn::TransformerDecoder(nn::TransformerDecoderOptions(decoder(), 2)),
      {target(), source()},
      [](auto& m, const List& a) { return m->forward(a[0], a[1], future(3)); });
}

PARITY(layers_transformer) {
  const auto options = [] {
    return nn::TransformerOptions(kWidth, 2, 2, 1).dim_feedforward(6).dropout(0);
  };
  const List in{source(), target()};
  run<nn::Transformer>("Transformer", nn::Transformer(options()), in,
                       [](auto& m, const List& a) { return m->forward(a[0], a[1]); });
  run<nn::Transformer>("Transformer masked", nn::Transformer(options().activation(torch::kGELU)),
                       in, [](auto& m, const List& a) {
                         return m->forward(a[0], a[1], future(5), future(3),
                                           wave({3, 5}, 0.8, torch::kDouble), padding(5, 1),
                                           padding(3, 1), padding(5, 2));
                       });
  report_refusal("batches that differ", [] {
    nn::Transformer(nn::TransformerOptions(kWidth, 2, 1, 1))(torch::ones({5, 2, kWidth}),
                                                             torch::ones({3, 1, kWidth}));
  });
}

PARITY(layers_transformer_of_other_parts) {
  const auto options = nn::TransformerOptions(kWidth, 2, 1, 1).dim_feedforward(6).dropout(0);
  const List in{source(), target()};
  const nn::AnyModule halves{Halves()}, sums{Sums()};
  nn::Transformer coded(nn::TransformerOptions(options).custom_encoder(halves));
  run<nn::Transformer>("its own encoder", coded, in,
                       [](auto& m, const List& a) { return m->forward(a[0], a[1]); });
  run<nn::Transformer>(
      "both",
      nn::Transformer(nn::TransformerOptions(options).custom_encoder(halves).custom_decoder(sums)),
      in, [](auto& m, const List& a) { return m->forward(a[0], a[1], {}, {}, {}, padding(5, 1)); });
  report_text("the very encoder", coded->encoder.ptr() == halves.ptr() ? "yes" : "no");

  nn::Transformer whole(options);
  auto encoder = whole->encoder.get<nn::TransformerEncoder>();
  auto decoder = whole->decoder.get<nn::TransformerDecoder>();
  report_text("layers", std::to_string(encoder->layers->size() + decoder->layers->size()));
  fill(*whole);
  for (const auto& norm : {encoder->norm, decoder->norm}) {
    report("a norm", norm.get<nn::LayerNorm>()->weight, 0);
  }
  encoder->reset_parameters();
  decoder->reset_parameters();
  for (const auto& p : whole->named_parameters()) {
    // Compare only 1-D parameters, which are initialised to ones and zeros; parameters of Linear
    // are random.
    const bool random = p.value().dim() > 1 || p.key().find("linear") != std::string::npos;
    if (!random) report("anew " + p.key(), p.value(), 0);
  }
  nn::MultiheadAttention one(kWidth, 2),
      apart(nn::MultiheadAttentionOptions(6, 3).kdim(kWidth).vdim(kWidth));
  for (auto m : {one, apart}) {
    report_text("heads", std::to_string(m->head_dim) + (m->_qkv_same_embed_dim ? " one" : ""));
    fill(*m);
    m->_reset_parameters();
    report("anew", torch::cat({m->in_proj_bias, m->out_proj->bias}), 0);
  }
}

// Fewer arguments than forward has.
PARITY(layers_attention_in_containers) {
  const auto encoder = nn::TransformerEncoderLayerOptions(kWidth, 2).dim_feedforward(6).dropout(0);
  const auto decoder = nn::TransformerDecoderLayerOptions(kWidth, 2).dim_feedforward(6).dropout(0);
  const List in{target(), source()};
  run_any<Pair>("MultiheadAttention", nn::MultiheadAttention(kWidth, 2),
                {target(), source(), x({5, 2, kWidth})}, kRoundings);
  run_any<Tensor>("TransformerEncoderLayer", nn::TransformerEncoderLayer(encoder), {source()},
                  kRoundings);
  run_any<Tensor>("TransformerDecoderLayer", nn::TransformerDecoderLayer(decoder), in, kRoundings);
  run_any<Tensor>("TransformerEncoder",
                  nn::TransformerEncoder(nn::TransformerEncoderOptions(encoder, 2)), {source()},
                  kRoundings);
  run_any<Tensor>("TransformerDecoder",
                  nn::TransformerDecoder(nn::TransformerDecoderOptions(decoder, 2)), in,
                  kRoundings);
  run_any<Tensor>(
      "Transformer",
      nn::Transformer(nn::TransformerOptions(kWidth, 2, 1, 1).dim_feedforward(6).dropout(0)), in,
      kRoundings);
}
