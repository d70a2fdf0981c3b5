// Operators: recurrent layers, step by step.
#include <ambit/error.h>
#include <ambit/nn/functional/aten.h>
#include <ambit/ops/creation.h>
#include <ambit/ops/elementwise.h>
#include <ambit/ops/matmul.h>
#include <ambit/ops/shape.h>

#include <fmt/format.h>

#include <functional>

#include "operators.h"

namespace ambit::graph::onnx {
namespace {

// X [T,B,I], W [D,G H,I], R [D,G H,H], B [D,2 G H], sequence_lens [B], initial states [D,B,H], P
// [D,3 H]; Y [T,D,B,H] and last states [D,B,H]. With layout 1 the batch comes first.
#define ONNX_RECURRENT                                                                             \
  "activation_alpha=[] activation_beta=[] activations=[] clip=None direction=forward hidden_size " \
  "layout=0"
enum Parameter : size_t { kX, kW, kR, kB, kLengths, kHidden };

using Function = std::function<Tensor(const Tensor&)>;

Function activation(const std::string& name, double alpha, double beta, bool is_given) {
  const auto f = [](Tensor (*map)(const Tensor&)) { return Function(map); };
  if (name == "Sigmoid") return f(sigmoid);
  if (name == "Tanh") return f(tanh);
  if (name == "Relu") return f(relu);
  if (name == "Softsign") return [](const Tensor& x) { return x / (x.abs() + 1); };
  if (name == "Softplus") return [](const Tensor& x) { return nn::functional::softplus(x, 1, 40); };
  if (name == "LeakyRelu") {
    const double slope = is_given ? alpha : 0.01;
    return [=](const Tensor& x) { return nn::functional::leaky_relu(x, slope); };
  }
  if (name == "Affine") return [=](const Tensor& x) { return x * alpha + beta; };
  if (name == "HardSigmoid") {
    const double slope = is_given ? alpha : 0.2, shift = is_given ? beta : 0.5;
    return [=](const Tensor& x) { return clamp(x * slope + shift, 0.0, 1.0); };
  }
  if (name == "Elu") {
    const double scale = is_given ? alpha : 1;
    return [=](const Tensor& x) { return nn::functional::elu(x, scale); };
  }
  throw NotImplementedError(fmt::format("expected an activation that ambit has, got {}", name));
}

struct Layer {
  Tensor w, r, wb, rb,
      peepholes;  // weights of one direction; biases and peepholes may be undefined
  std::vector<Function> functions;
  std::optional<double> clip;
  int64_t hidden = 0;
  bool reset_first = true;  // GRU: the reset gate is applied before the product

  Tensor limited(const Tensor& x) const { return clip ? clamp(x, -*clip, *clip) : x; }
  Tensor input(const Tensor& x) const { return linear(x, w, wb); }
  Tensor state(const Tensor& h) const { return linear(h, r, rb); }
};

using State = std::vector<Tensor>;
using Step = State (*)(const Layer&, const Tensor& x, const State&);

State rnn_step(const Layer& l, const Tensor& x, const State& s) {
  return {l.functions[0](l.limited(l.input(x) + l.state(s[0])))};
}

// Gates z, r, h.
State gru_step(const Layer& l, const Tensor& x, const State& s) {
  const std::vector<Tensor> in = l.input(x).chunk(3, 1);
  const Tensor& h = s[0];
  const std::vector<Tensor> r = l.r.chunk(3, 0);
  const std::vector<Tensor> b = l.rb.defined() ? l.rb.chunk(3, 0) : std::vector<Tensor>(3);
  const Tensor z = l.functions[0](l.limited(in[0] + linear(h, r[0], b[0])));
  const Tensor reset = l.functions[0](l.limited(in[1] + linear(h, r[1], b[1])));
  const Tensor part = l.reset_first ? linear(reset * h, r[2], b[2]) : reset * linear(h, r[2], b[2]);
  const Tensor n = l.functions[1](l.limited(in[2] + part));
  return {(1 - z) * n + z * h};
}

// Gates i, o, f, c; peepholes i, o, f.
State lstm_step(const Layer& l, const Tensor& x, const State& s) {
  std::vector<Tensor> g = (l.input(x) + l.state(s[0])).chunk(4, 1);
  const Tensor& cell = s[1];
  const std::vector<Tensor> p =
      l.peepholes.defined() ? l.peepholes.chunk(3, 0) : std::vector<Tensor>();
  if (!p.empty()) {
    g[0] = g[0] + p[0] * cell;
    g[2] = g[2] + p[2] * cell;
  }
  const Tensor i = l.functions[0](l.limited(g[0])), f = l.functions[0](l.limited(g[2]));
  const Tensor c = f * cell + i * l.functions[1](l.limited(g[3]));
  if (!p.empty()) g[1] = g[1] + p[1] * c;
  const Tensor o = l.functions[0](l.limited(g[1]));
  return {o * l.functions[2](c), c};
}

struct Result {
  Tensor all;  // [T,B,H]
  State last;
};

// Steps beyond the length of a sequence keep its state and give zeros.
Result scan(const Layer& layer, Step step, const Tensor& x, const Tensor& lengths, State state,
            bool is_reverse) {
  std::vector<Tensor> outputs(static_cast<size_t>(x.size(0)));
  for (int64_t k = 0; k < x.size(0); ++k) {
    const int64_t t = is_reverse ? x.size(0) - 1 - k : k;
    const State next = step(layer, x.select(0, t), state);
    if (!lengths.defined()) {
      outputs[static_cast<size_t>(t)] = next[0];
      state = next;
      continue;
    }
    const Tensor runs = lengths.gt(t).unsqueeze(1);
    outputs[static_cast<size_t>(t)] = where(runs, next[0], zeros_like(next[0]));
    for (size_t i = 0; i < state.size(); ++i) state[i] = where(runs, next[i], state[i]);
  }
  return {stack(outputs), state};
}

// `first`: the position of activation_alpha. `states`: 2 for an LSTM.
void recurrent(Call& c, Step step, size_t first, size_t states, size_t gates,
               const std::vector<std::string>& defaults) {
  const bool is_batch_first = c.integer(first + 6) != 0;
  const Tensor x = is_batch_first ? c.tensor(kX).transpose(0, 1) : c.tensor(kX);
  const std::string_view direction = c.text(first + 4);
  const int64_t directions = direction == "bidirectional" ? 2 : 1, hidden = c.integer(first + 5);
  const Tensor& lengths = c.optional_tensor(kLengths);
  if (x.size(0) < 1) throw ShapeError("expected one step or more, got 0");
  if (c.tensor(kW).size(0) != directions ||
      c.tensor(kW).size(1) != static_cast<int64_t>(gates) * hidden) {
    throw ShapeError(fmt::format("expected W [{}, {}, ...], got {}", directions,
                                 static_cast<int64_t>(gates) * hidden, str(c.tensor(kW).sizes())));
  }
  std::vector<std::string> names;
  for (const Argument& a : c.argument(first + 2).items) names.push_back(a.text);
  if (names.empty()) {
    for (int64_t d = 0; d < directions; ++d)
      names.insert(names.end(), defaults.begin(), defaults.end());
  }
  if (names.size() != defaults.size() * static_cast<size_t>(directions)) {
    throw Error(fmt::format("expected {} activations for each direction", defaults.size()));
  }
  const std::vector<double> alpha = c.reals(first), beta = c.reals(first + 1);
  std::vector<Tensor> all;
  std::vector<std::vector<Tensor>> last(states);
  for (int64_t d = 0; d < directions; ++d) {
    Layer layer{c.tensor(kW).select(0, d), c.tensor(kR).select(0, d), {}, {}, {}, {}, {}, hidden};
    layer.clip = c.optional_real(first + 3);
    if (c.has(kB)) {
      const std::vector<Tensor> b = c.tensor(kB).select(0, d).chunk(2, 0);
      layer.wb = b[0];
      layer.rb = b[1];
    }
    if (gates == 4 && c.has(7)) layer.peepholes = c.tensor(7).select(0, d);
    if (gates == 3) layer.reset_first = c.integer(first + 7) == 0;
    if (gates == 4 && c.integer(first + 7) != 0) {
      throw NotImplementedError("expected input_forget 0, got 1");
    }
    for (size_t i = 0; i < defaults.size(); ++i) {
      const size_t at = static_cast<size_t>(d) * defaults.size() + i;
      layer.functions.push_back(activation(names[at], at < alpha.size() ? alpha[at] : 1,
                                           at < beta.size() ? beta[at] : 0, at < alpha.size()));
    }
    State state;
    for (size_t i = 0; i < states; ++i) {
      const Tensor& given = c.optional_tensor(kHidden + i);
      const Tensor start = given.defined() && is_batch_first ? given.transpose(0, 1) : given;
      state.push_back(start.defined() ? start.select(0, d)
                                      : zeros({x.size(1), hidden}, x.options()));
    }
    const bool is_reverse = direction == "reverse" || d == 1;
    Result r = scan(layer, step, x, lengths, std::move(state), is_reverse);
    all.push_back(r.all);
    for (size_t i = 0; i < states; ++i) last[i].push_back(r.last[i]);
  }
  const Tensor y = stack(all, 1);  // [T,D,B,H]
  c.give(is_batch_first ? y.permute({2, 0, 1, 3}) : y);
  for (const std::vector<Tensor>& s : last) c.give(stack(s, is_batch_first ? 1 : 0));
}

constexpr Operator kRows[] = {
    // clang-format off
    {{"RNN", "X W R B=None sequence_lens=None initial_h=None " ONNX_RECURRENT, many([](Call& c) {
       recurrent(c, rnn_step, 6, 1, 1, {"Tanh"}); })}, 6},
    {{"GRU", "X W R B=None sequence_lens=None initial_h=None " ONNX_RECURRENT
      " linear_before_reset=0", many([](Call& c) {
       recurrent(c, gru_step, 6, 1, 3, {"Sigmoid", "Tanh"}); })}, 6},
    {{"LSTM", "X W R B=None sequence_lens=None initial_h=None initial_c=None P=None "
      ONNX_RECURRENT " input_forget=0", many([](Call& c) {
       recurrent(c, lstm_step, 8, 2, 4, {"Sigmoid", "Tanh", "Tanh"}); })}, 8},
    // clang-format on
};

}  // namespace

constinit const std::span<const Operator> kRecurrentOperators = kRows;

}  // namespace ambit::graph::onnx
