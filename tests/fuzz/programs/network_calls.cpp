// Attention, recurrent networks, and embeddings.
#include <ambit/ambit.h>
#include <fmt/format.h>

#include "calls.h"

namespace fuzz {

using namespace ambit;
namespace F = nn::functional;

namespace {

using Fill = Generator::Fill;

void attention(Generator& g) {
  Random& r = g.random();
  const int64_t L = r.between(1, 5), S = r.one_in(2) ? L : r.between(1, 5), E = r.between(1, 4),
                V = r.one_in(2) ? E : r.between(1, 4);
  const Sizes batch = draw(g, static_cast<size_t>(r.between(0, 2)), 1, 2);
  const auto sizes = [&](int64_t a, int64_t b) {
    Sizes s = batch;
    s.insert(s.end(), {a, b});
    return s;
  };
  const int q = g.operand(sizes(L, E)), k = g.operand(sizes(S, E)), v = g.operand(sizes(S, V));
  const int64_t which = r.between(0, 3);
  const int mask = which == 1   ? g.operand(g.broadcastable(sizes(L, S)))
                   : which == 2 ? g.integers({L, S}, 0, 1, kBool)
                                : -1;
  const bool causal = which == 3;
  const std::optional<double> scale =
      r.one_in(3) ? std::optional<double>(0.25 * static_cast<double>(r.between(1, 5)))
                  : std::nullopt;
  g.call(
      fmt::format("attend($0, $1, $2, $3, {}, {})", bool_text(causal),
                  scale ? number_text(*scale) : "None"),
      {q, k, v, mask},
      [=](const Tensors& t) {
        Tensor m = t[3];
        if (which == 2) {  // every query can attend to this key
          m = m.logical_or(arange(m.size(-1), TensorOptions(kInt64).device(m.device())).eq(0));
        }
        return scaled_dot_product_attention(t[0], t[1], t[2], m, 0, causal, scale);
      },
      256);
}

void heads(Generator& g) {
  Random& r = g.random();
  const int64_t H = r.between(1, 2), E = H * r.between(1, 2), L = r.between(1, 3),
                S = r.between(1, 4), N = r.between(1, 2);
  const bool separate = r.one_in(3), has_bias = r.one_in(2), has_kv = r.one_in(3),
             zero = r.one_in(3), weights = r.one_in(2), averaged = r.one_in(2);
  const int64_t K = separate ? r.between(1, 3) : E;
  const int q = g.operand({L, N, E}), k = g.operand({S, N, K}), v = g.operand({S, N, K});
  const int in = separate ? -1 : g.operand({3 * E, E}), b = has_bias ? g.operand({3 * E}) : -1;
  const int bk = has_kv ? g.operand({1, 1, E}) : -1, bv = has_kv ? g.operand({1, 1, E}) : -1;
  const int out = g.operand({E, E}), ob = has_bias ? g.operand({E}) : -1;
  const int qw = separate ? g.operand({E, E}) : -1, kw = separate ? g.operand({E, K}) : -1,
            vw = separate ? g.operand({E, K}) : -1;
  const int mask = r.one_in(2) ? g.operand(r.one_in(2) ? Sizes{L, S} : Sizes{N * H, L, S}) : -1;
  const int ignored = r.one_in(3) ? g.integers({N, S}, 0, 1, kBool) : -1;
  g.call(
      fmt::format("heads($0, $1, $2, {}, {}, $3, $4, $5, $6, {}, $7, $8, $9, $10, $11, $12, "
                  "$13, {}, {}, {})",
                  E, H, bool_text(zero), bool_text(separate), bool_text(weights),
                  bool_text(averaged)),
      {q, k, v, in, b, bk, bv, out, ob, qw, kw, vw, mask, ignored},
      [=](const Tensors& t) {
        F::MultiheadAttentionForwardFuncOptions o(E, H, t[3], t[4], t[5], t[6], zero, 0, t[7],
                                                  t[8]);
        Tensor no = t[13];
        if (no.defined()) {  // no query ignores this key
          no = no.logical_and(arange(no.size(-1), TensorOptions(kInt64).device(no.device())).ne(0));
        }
        o.key_padding_mask(no).need_weights(weights).attn_mask(t[12]);
        o.use_separate_proj_weight(separate).q_proj_weight(t[9]).k_proj_weight(t[10]);
        o.v_proj_weight(t[11]).average_attn_weights(averaged);
        const auto result = F::multi_head_attention_forward(t[0], t[1], t[2], o);
        return weights ? flat(result) : std::get<0>(result);
      },
      512);
}

void network(Generator& g) {
  Random& r = g.random();
  static const std::vector<std::string> kKinds{"lstm", "gru", "rnn_tanh", "rnn_relu"};
  const std::string kind = r.choose(kKinds);
  const int64_t gates = kind == "lstm" ? 4 : kind == "gru" ? 3 : 1;
  const int64_t I = r.between(1, 3), H = r.between(1, 3), layers = r.between(1, 2),
                N = r.between(1, 3), T = r.between(1, 4);
  const bool both_ways = r.one_in(2), biases = r.one_in(2), batch_first = r.one_in(2);
  const int64_t P = kind == "lstm" && r.one_in(4) && H > 1 ? H - 1 : 0, R = P > 0 ? P : H;
  const int64_t ways = both_ways ? 2 : 1;
  const bool packed = r.one_in(3);
  g.keep_sizes();
  // Lengths of sequences, the longest first; sequences of each step.
  Sizes of_step(static_cast<size_t>(T));
  int64_t rows = 0, now = N;
  for (int64_t& n : of_step) {
    n = now;
    rows += n;
    now = r.between(1, now);
  }
  std::vector<int> all{packed ? g.operand({rows, I})
                              : g.operand(batch_first ? Sizes{N, T, I} : Sizes{T, N, I})};
  all.push_back(g.operand({layers * ways, N, R}));
  if (kind == "lstm") all.push_back(g.operand({layers * ways, N, H}));
  const size_t states = all.size();
  for (int64_t i = 0; i < layers * ways; ++i) {
    const int64_t in = i < ways ? I : R * ways;
    all.push_back(g.operand({gates * H, in}));
    all.push_back(g.operand({gates * H, R}));
    if (biases) {
      all.push_back(g.operand({gates * H}));
      all.push_back(g.operand({gates * H}));
    }
    if (P > 0) all.push_back(g.operand({P, H}));
  }
  const auto list = [&](size_t from, size_t to) {
    std::string s = "[";
    for (size_t i = from; i < to; ++i) s += fmt::format("${}, ", i);
    return s + "]";
  };
  g.call(
      fmt::format("flat(torch._VF.{}($0, {}{}, {}, {}, {}, 0.0, False, {}{}))", kind,
                  packed ? "torch.tensor(" + list_text(of_step) + "), " : "",
                  kind == "lstm" ? list(1, states) : "$1", list(states, all.size()),
                  bool_text(biases), layers, bool_text(both_ways),
                  packed ? "" : std::string(", ") + bool_text(batch_first)),
      all,
      [=](const Tensors& t) {
        const Tensors h(t.begin() + 1, t.begin() + static_cast<int64_t>(states)),
            w(t.begin() + static_cast<int64_t>(states), t.end());
        Tensor sizes = empty({static_cast<int64_t>(of_step.size())}, kInt64);
        std::copy(of_step.begin(), of_step.end(), sizes.data_ptr<int64_t>());
        if (kind == "lstm") {
          return flat(packed ? lstm(t[0], sizes, h, w, biases, layers, 0, false, both_ways)
                             : lstm(t[0], h, w, biases, layers, 0, false, both_ways, batch_first));
        }
        const auto run = [&](auto f) { return flat(packed ? f(t[0], &sizes) : f(t[0], nullptr)); };
#define AMBIT_RUN(name)                                                             \
  run([&](const Tensor& x, const Tensor* of) {                                      \
    return of ? name(x, *of, h[0], w, biases, layers, 0, false, both_ways)          \
              : name(x, h[0], w, biases, layers, 0, false, both_ways, batch_first); \
  })
        if (kind == "gru") return AMBIT_RUN(gru);
        return kind == "rnn_tanh" ? AMBIT_RUN(rnn_tanh) : AMBIT_RUN(rnn_relu);
#undef AMBIT_RUN
      },
      1024);
}

void cell(Generator& g) {
  Random& r = g.random();
  const int64_t N = r.between(1, 3), I = r.between(1, 3), H = r.between(1, 3),
                kind = r.between(0, 3);
  static const int64_t kGates[] = {4, 3, 1, 1};
  static const char* const kNames[] = {"flat(torch.lstm_cell($0, [$1, $6], $2, $3, $4, $5))",
                                       "torch.gru_cell($0, $1, $2, $3, $4, $5)",
                                       "torch.rnn_tanh_cell($0, $1, $2, $3, $4, $5)",
                                       "torch.rnn_relu_cell($0, $1, $2, $3, $4, $5)"};
  const int64_t rows = kGates[kind] * H;
  const bool biases = r.one_in(2);
  const int x = g.operand({N, I}), h = g.operand({N, H}), w = g.operand({rows, I}),
            u = g.operand({rows, H}), b = biases ? g.operand({rows}) : -1,
            c = biases ? g.operand({rows}) : -1, state = kind == 0 ? g.operand({N, H}) : -1;
  g.call(
      kNames[kind], {x, h, w, u, b, c, state},
      [=](const Tensors& t) {
        if (kind == 0) return flat(lstm_cell(t[0], Tensors{t[1], t[6]}, t[2], t[3], t[4], t[5]));
        const auto f = kind == 1 ? gru_cell : kind == 2 ? rnn_tanh_cell : rnn_relu_cell;
        return f(t[0], t[1], t[2], t[3], t[4], t[5]);
      },
      256);
}

void table(Generator& g) {
  Random& r = g.random();
  const int64_t rows = r.between(1, 5), width = r.between(1, 3);
  const int64_t padding = r.one_in(2) ? r.between(-rows, rows - 1) : -100;
  const bool by_freq = r.one_in(4);
  const std::string pads = padding == -100 ? "None" : std::to_string(padding);
  const int w = g.operand({rows, width});
  const auto index = [&](const Sizes& s) {
    return g.integers(s, 0, r.one_in(40) ? rows : rows - 1, r.one_in(4) ? kInt32 : kInt64);
  };
  const std::optional<int64_t> pad =
      padding == -100 ? std::nullopt : std::optional<int64_t>(padding);
  if (r.one_in(3)) {
    g.call(fmt::format("F.embedding($0, $1, {}, scale_grad_by_freq={})", pads, bool_text(by_freq)),
           {index(g.small_sizes(0, 3)), w}, [=](const Tensors& t) {
             return F::embedding(
                 t[0], t[1],
                 F::EmbeddingFuncOptions().padding_idx(pad).scale_grad_by_freq(by_freq));
           });
    return;
  }
  static const char* const kModes[] = {"sum", "mean", "max"};
  const int64_t mode = r.between(0, 2);
  const bool square = r.one_in(3), last = !square && r.one_in(2);
  const int64_t n = r.between(1, 6), bags = r.between(1, 3);
  const int i = square ? index({bags, n}) : index({n});
  int offsets = -1;
  if (!square) {
    std::vector<double> at{0};
    while (static_cast<int64_t>(at.size()) < bags) {
      at.push_back(static_cast<double>(r.between(static_cast<int64_t>(at.back()), n)));
    }
    if (last) at.push_back(static_cast<double>(n));
    offsets = g.numbers(at, kInt64);
  }
  const int weights = mode == 0 && r.one_in(2) ? g.operand(square ? Sizes{bags, n} : Sizes{n}) : -1;
  g.call(fmt::format("F.embedding_bag($0, $1, None if $2 is None else $2.to($0.dtype), mode='{}', "
                     "per_sample_weights=$3, "
                     "include_last_offset={}, padding_idx={})",
                     kModes[mode], bool_text(last), pads),
         {i, w, offsets, weights}, [=](const Tensors& t) {
           F::EmbeddingBagFuncOptions o;
           if (mode == 0) o.mode(kSum);
           if (mode == 2) o.mode(kMax);
           o.per_sample_weights(t[3]).include_last_offset(last).padding_idx(pad);
           Tensor from = t[2];
           // Both operands have the same dtype, as PyTorch requires.
           if (from.defined()) from = from.to(t[0].dtype());
           return F::embedding_bag(t[0], t[1], o.offsets(from));
         });
}

}  // namespace

const std::vector<Call> kNetworkCalls{attention, attention, heads, network,
                                      network,   cell,      table, table};

}  // namespace fuzz
