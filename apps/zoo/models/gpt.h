// GPT: a decoder-only transformer. Parameters have the names of nanoGPT's PyTorch model (without
// tied weights), so its checkpoints load by name. Source: Radford et al. 2019, "Language Models are
// Unsupervised Multitask Learners"; github.com/karpathy/nanoGPT.
#pragma once

#include <ambit/ambit.h>

#include <cmath>
#include <cstdint>
#include <string>
#include <utility>

namespace zoo {

namespace nn = ambit::nn;
using ambit::Tensor;

struct GPTConfig {
  int64_t vocabulary = 256, block = 64;        // number of characters; context length
  int64_t layers = 4, heads = 4, width = 128;  // width must be divisible by heads
  double dropout = 0;
};

/// Causal self-attention: x [B,T,width] -> [B,T,width].
struct CausalSelfAttentionImpl : nn::Module {
  explicit CausalSelfAttentionImpl(const GPTConfig& c)
      : config(c),
        c_attn(register_module("c_attn", nn::Linear(c.width, 3 * c.width))),
        c_proj(register_module("c_proj", nn::Linear(c.width, c.width))),
        dropout(register_module("resid_dropout", nn::Dropout(c.dropout))) {}

  Tensor forward(Tensor x) {
    const int64_t B = x.size(0), T = x.size(1), C = x.size(2), H = config.heads;
    const auto heads = [&](const Tensor& t) {  // [B,T,C] -> [B,H,T,C / H]
      return t.reshape({B, T, H, C / H}).transpose(1, 2);
    };
    x = c_attn(x);  // reassigned, so that each step frees its input
    auto qkv = x.split(C, 2);
    x = nn::functional::scaled_dot_product_attention(heads(qkv[0]), heads(qkv[1]), heads(qkv[2]),
                                                     {}, is_training() ? config.dropout : 0,
                                                     /*is_causal=*/true);
    qkv.clear();
    return dropout(c_proj(x.transpose(1, 2).reshape({B, T, C})));
  }

  GPTConfig config;
  nn::Linear c_attn, c_proj;
  nn::Dropout dropout;
};
AMBIT_MODULE(CausalSelfAttention);

/// Two layers applied to each character separately, four times as wide in between.
struct MLPImpl : nn::Module {
  explicit MLPImpl(const GPTConfig& c)
      : c_fc(register_module("c_fc", nn::Linear(c.width, 4 * c.width))),
        c_proj(register_module("c_proj", nn::Linear(4 * c.width, c.width))),
        dropout(register_module("dropout", nn::Dropout(c.dropout))) {}
  Tensor forward(Tensor x) {
    x = c_fc->forward_map(x, ambit::UnaryOp::gelu);
    return dropout(c_proj(x));
  }
  nn::Linear c_fc, c_proj;
  nn::Dropout dropout;
};
AMBIT_MODULE(MLP);

struct BlockImpl : nn::Module {
  explicit BlockImpl(const GPTConfig& c)
      : ln_1(register_module("ln_1", nn::LayerNorm(nn::LayerNormOptions({c.width})))),
        attn(register_module("attn", CausalSelfAttention(c))),
        ln_2(register_module("ln_2", nn::LayerNorm(nn::LayerNormOptions({c.width})))),
        mlp(register_module("mlp", MLP(c))) {}
  Tensor forward(Tensor x) {
    x = x + attn(ln_1(x));
    return x + mlp(ln_2(x));
  }
  nn::LayerNorm ln_1;
  CausalSelfAttention attn;
  nn::LayerNorm ln_2;
  MLP mlp;
};
AMBIT_MODULE(Block);

/// nanoGPT's module "transformer": embeddings, blocks, the last norm.
struct TrunkImpl : nn::Module {
  explicit TrunkImpl(const GPTConfig& c)
      : wte(register_module("wte", nn::Embedding(c.vocabulary, c.width))),
        wpe(register_module("wpe", nn::Embedding(c.block, c.width))),
        drop(register_module("drop", nn::Dropout(c.dropout))),
        h(register_module("h", nn::Sequential())),
        ln_f(register_module("ln_f", nn::LayerNorm(nn::LayerNormOptions({c.width})))) {
    for (int64_t i = 0; i < c.layers; ++i) h->push_back(Block(c));
  }
  Tensor forward(const Tensor& ids) {
    const Tensor positions =
        ambit::arange(ids.size(1), ambit::TensorOptions(ambit::kInt64).device(ids.device()));
    Tensor x = drop(wte(ids) + wpe(positions));
    return ln_f(h->forward(std::move(x)));
  }
  nn::Embedding wte, wpe;
  nn::Dropout drop;
  nn::Sequential h;
  nn::LayerNorm ln_f;
};
AMBIT_MODULE(Trunk);

/// Character ids [B,T], T <= block -> logits of the next characters, [B,T,vocabulary].
struct GPTImpl : nn::Module {
  explicit GPTImpl(const GPTConfig& c)
      : config(c),
        transformer(register_module("transformer", Trunk(c))),
        lm_head(register_module("lm_head",
                                nn::Linear(nn::LinearOptions(c.width, c.vocabulary).bias(false)))) {
    if (c.width % c.heads != 0) {
      throw ambit::Error("GPT: expected as many heads as divide a width of " +
                         std::to_string(c.width) + ", got " + std::to_string(c.heads));
    }
    start();
  }
  Tensor forward(const Tensor& ids) { return lm_head(transformer(ids)); }

  GPTConfig config;
  Trunk transformer;
  nn::Linear lm_head;

 private:
  // As in GPT-2: normal with std 0.02, smaller for the residual projections with more layers.
  void start() {
    const ambit::NoGradGuard no_grad;
    for (const auto& p : named_parameters()) {
      if (p.key().ends_with(".bias")) {
        p.value().zero_();
      } else if (p.value().dim() > 1) {
        const bool summed = p.key().ends_with("c_proj.weight");
        p.value().normal_(0,
                          0.02 / (summed ? std::sqrt(2. * static_cast<double>(config.layers)) : 1));
      }
    }
  }
};
AMBIT_MODULE(GPT);

}  // namespace zoo
