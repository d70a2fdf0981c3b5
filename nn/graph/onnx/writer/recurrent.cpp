// Forms: recurrent layers and cells. Weights keep PyTorch's order in the file and are reordered by
// nodes, which runtimes compute once.
#include <algorithm>
#include <array>
#include <string>

#include "forms.h"

namespace ambit::graph::onnx {
namespace {

// The positions of PyTorch's gates i, f, g, o and r, z, n in ONNX's order: i, o, f, c and z, r, h.
struct Kind {
  const char* type;
  std::array<int, 4> order;
  int gates;
  const char* activation = nullptr;
};

constexpr Kind kLstm{"LSTM", {0, 3, 1, 2}, 4}, kGru{"GRU", {1, 0, 2}, 3},
    kTanh{"RNN", {0}, 1, "Tanh"}, kRelu{"RNN", {0}, 1, "Relu"};

// Blocks of `size` rows in ONNX's order.
Ref reordered(Emitter& e, const Ref& w, const Kind& kind, int64_t size) {
  if (kind.gates == 1) return w;
  std::vector<Ref> parts;
  for (int i = 0; i < kind.gates; ++i) {
    const int64_t at = kind.order[static_cast<size_t>(i)] * size;
    parts.push_back(e.slice(w, 0, at, at + size));
  }
  return e.concat(parts, 0);
}

// Join the tensors of all directions along a new first dim.
Ref stacked(Emitter& e, const std::vector<Ref>& list) {
  std::vector<Ref> all;
  for (const Ref& r : list) all.push_back(e.unsqueeze(r, 0));
  return e.concat(all, 0);
}

struct Layers {
  int64_t count, directions, hidden;
  bool has_bias;
};

struct Weights {
  Ref w, r, b;
};

Weights weights_of(Site& s, const Kind& kind, const Layers& l, int64_t layer,
                   const std::vector<Ref>& all) {
  std::vector<Ref> w, r, b;
  const size_t each = l.has_bias ? 4 : 2;
  for (int64_t d = 0; d < l.directions; ++d) {
    const size_t at = static_cast<size_t>(layer * l.directions + d) * each;
    const auto part = [&](size_t i) { return reordered(s.e, all.at(at + i), kind, l.hidden); };
    w.push_back(part(0));
    r.push_back(part(1));
    if (l.has_bias) b.push_back(s.e.concat({part(2), part(3)}, 0));
  }
  return {stacked(s.e, w), stacked(s.e, r), l.has_bias ? stacked(s.e, b) : Ref()};
}

Attributes attributes_of(const Kind& kind, const Layers& l) {
  Attributes out{attribute("hidden_size", l.hidden),
                 attribute("direction", l.directions == 2 ? "bidirectional" : "forward")};
  if (kind.gates == 3) out.push_back(attribute("linear_before_reset", 1));
  if (kind.activation) {
    proto::AttributeProto names;
    names.set_name("activations");
    names.set_type(8);
    for (int64_t d = 0; d < l.directions; ++d) names.add_strings(kind.activation);
    out.push_back(names);
  }
  return out;
}

void recurrent(Site& s, const Kind& kind) {
  Emitter& e = s.e;
  const bool is_lstm = kind.gates == 4, is_batch_first = s.flag(8);
  if (s.real(5) != 0 && s.training(6)) Site::refuse("dropout in training: call eval() first");
  if (s.rank(0) != 3) Site::refuse("an input without a batch");
  const std::vector<Ref> states = is_lstm ? s.tensors(1) : std::vector<Ref>{s.tensor(1)};
  const std::vector<Ref> weights = s.tensors(2);
  const int64_t hidden = (is_lstm ? *s.types(1)[0] : s.value(1)).sizes.back().number;
  const Layers l{s.integer(4), s.flag(7) ? 2 : 1, hidden, s.flag(3)};
  const size_t each = l.has_bias ? 4 : 2;
  if (weights.size() != each * static_cast<size_t>(l.count * l.directions)) {
    Site::refuse("projections");
  }
  const Dims swapped{1, 0, 2};
  Ref x = s.tensor(0);
  if (is_batch_first) x = e.transpose(x, swapped);
  std::vector<Ref> last(2);
  std::vector<std::vector<Ref>> ends(2);
  for (int64_t i = 0; i < l.count; ++i) {
    const Weights w = weights_of(s, kind, l, i, weights);
    std::vector<Ref> inputs{x, w.w, w.r, w.b, Ref()};
    for (const Ref& state : states) {
      inputs.push_back(e.slice(state, 0, i * l.directions, (i + 1) * l.directions));
    }
    const std::vector<Ref> y = e.ops(kind.type, inputs, attributes_of(kind, l),
                                     std::vector<DType>(is_lstm ? 3 : 2, x.dtype));
    // [steps, directions, batch, hidden]; Reshape's 0 copies a size.
    x = e.op("Reshape",
             {e.transpose(y[0], {0, 2, 1, 3}), e.integers({0, 0, l.directions * hidden})});
    for (size_t k = 1; k < y.size(); ++k) ends[k - 1].push_back(y[k]);
  }
  s.give(is_batch_first ? e.transpose(x, swapped) : x);
  for (const std::vector<Ref>& end : ends) {
    if (!end.empty()) s.give(e.concat(end, 0));
  }
}

// W x + R h, with biases.
struct Products {
  Ref input, hidden;
};

Products products(Site& s, const Ref& h) {
  const auto product = [&](const Ref& x, size_t w, size_t b) {
    return s.e.op("Gemm", {x, s.tensor(w), s.optional(b)}, {attribute("transB", 1)});
  };
  if (s.rank(0) != 2) Site::refuse("an input without a batch");
  return {product(s.tensor(0), 2, 4), product(h, 3, 5)};
}

void lstm_cell(Site& s) {
  Emitter& e = s.e;
  const std::vector<Ref> state = s.tensors(1);
  const Products p = products(s, state.at(0));
  const DType d = p.input.dtype;
  const std::vector<Ref> g =
      e.ops("Split", {e.add(p.input, p.hidden)},
            {attribute("axis", 1), attribute("num_outputs", 4)}, {d, d, d, d});
  const auto gate = [&](size_t i) { return e.op(i == 2 ? "Tanh" : "Sigmoid", {g[i]}); };
  const Ref c = e.add(e.mul(gate(1), state.at(1)), e.mul(gate(0), gate(2)));
  s.give(e.mul(gate(3), e.op("Tanh", {c})));
  s.give(c);
}

void gru_cell(Site& s) {
  Emitter& e = s.e;
  const Ref h = s.tensor(1);
  const Products p = products(s, h);
  const DType d = h.dtype;
  const Attributes thirds{attribute("axis", 1), attribute("num_outputs", 3)};
  const std::vector<Ref> x = e.ops("Split", {p.input}, thirds, {d, d, d}),
                         r = e.ops("Split", {p.hidden}, thirds, {d, d, d});
  const Ref reset = e.op("Sigmoid", {e.add(x[0], r[0])}),
            update = e.op("Sigmoid", {e.add(x[1], r[1])});
  const Ref n = e.op("Tanh", {e.add(x[2], e.mul(reset, r[2]))});
  s.give(e.add(n, e.mul(update, e.sub(h, n))));
}

void rnn_cell(Site& s, const char* activation) {
  const Products p = products(s, s.tensor(1));
  s.give(s.e.op(activation, {s.e.add(p.input, p.hidden)}));
}

constexpr Form kRows[] = {
    {"lstm.input", [](Site& s) { recurrent(s, kLstm); }},
    {"gru.input", [](Site& s) { recurrent(s, kGru); }},
    {"rnn_tanh.input", [](Site& s) { recurrent(s, kTanh); }},
    {"rnn_relu.input", [](Site& s) { recurrent(s, kRelu); }},
    {"lstm_cell.default", lstm_cell},
    {"gru_cell.default", gru_cell},
    {"rnn_tanh_cell.default", [](Site& s) { rnn_cell(s, "Tanh"); }},
    {"rnn_relu_cell.default", [](Site& s) { rnn_cell(s, "Relu"); }},
};

}  // namespace

constinit const std::span<const Form> kRecurrentForms = kRows;

}  // namespace ambit::graph::onnx
