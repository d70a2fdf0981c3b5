// Recurrent networks as functions: check the given weights and run them like a module's.
#include <ambit/detail/autocast.h>
#include <ambit/error.h>
#include <ambit/nn/functional/recurrent.h>
#include <ambit/ops/matmul.h>
#include <fmt/format.h>

#include "check.h"
#include "nn/recurrent_step.h"

namespace ambit {

using namespace nn::recurrent;
using nn::functional::check_floating;
using nn::functional::check_same_device;

namespace {

// The non-tensor arguments of a network function.
struct Said {
  const char* op;
  Kind kind;
  bool relu, has_biases;
  int64_t num_layers;
  double dropout;
  bool train, bidirectional, batch_first;
};

void check_weight(const char* op, const char* what, const Tensor& w, IntArrayRef sizes,
                  DType dtype) {
  if (!w.defined()) throw Error(fmt::format("{}: expected {}, got an undefined tensor", op, what));
  if (w.sizes() != sizes) {
    throw ShapeError(
        fmt::format("{}: expected {} of shape {}, got {}", op, what, str(sizes), str(w.sizes())));
  }
  if (w.dtype() != dtype) {
    throw DTypeError(
        fmt::format("{}: expected {} of {}, got {}", op, what, name(dtype), name(w.dtype())));
  }
}

// Return the network that the weights describe.
Layers layers_of(const Said& s, const Tensor& input, TensorList params) {
  check_floating(s.op, input);
  check_same_device(s.op, {{"input", input}, {"params", params}});
  if (s.num_layers < 1) {
    throw Error(fmt::format("{}: expected num_layers >= 1, got {}", s.op, s.num_layers));
  }
  if (!(s.dropout >= 0 && s.dropout <= 1)) {
    throw Error(fmt::format("{}: expected dropout in [0, 1], got {}", s.op, s.dropout));
  }
  const size_t parts = static_cast<size_t>(s.num_layers) * (s.bidirectional ? 2 : 1);
  const size_t each = s.has_biases ? 4 : 2;
  const bool projects = s.kind == Kind::lstm && params.size() == parts * (each + 1);
  if (params.size() != parts * each && !projects) {
    throw Error(fmt::format("{}: expected {} weights for {} layers, got {}", s.op, parts * each,
                            s.num_layers, params.size()));
  }
  if (input.dim() < 2 || !params[1].defined() || params[1].dim() != 2) {
    throw ShapeError(fmt::format(
        "{}: expected an input of 2 or 3 dims and weights [G H, R], got {} and {}", s.op,
        str(input.sizes()), params[1].defined() ? str(params[1].sizes()) : "none"));
  }
  const int64_t rows = params[1].size(0), hidden = rows / gates(s.kind), out = params[1].size(1);
  const size_t step = each + (projects ? 1 : 0);
  for (size_t i = 0; i < parts; ++i) {
    const Tensor* w = params.data() + i * step;
    const bool first = i < (s.bidirectional ? 2 : 1);
    const int64_t in = first ? input.size(-1) : out * (s.bidirectional ? 2 : 1);
    const auto check = [&](size_t at, const char* what, IntArrayRef sizes) {
      check_weight(s.op, what, w[at], sizes, input.dtype());
    };
    check(0, "w_ih", {hidden * gates(s.kind), in});
    check(1, "w_hh", {hidden * gates(s.kind), projects ? out : hidden});
    if (s.has_biases) {
      check(2, "b_ih", {rows});
      check(3, "b_hh", {rows});
    }
    if (projects) check(each, "w_hr", {out, hidden});
  }
  return {.op = s.op,
          .kind = s.kind,
          .relu = s.relu,
          .weights = params,
          .bias = s.has_biases,
          .input_size = input.size(-1),
          .hidden_size = hidden,
          .proj_size = projects ? out : 0,
          .num_layers = s.num_layers,
          .bidirectional = s.bidirectional,
          .batch_first = s.batch_first,
          .dropout = s.dropout,
          .training = s.train};
}

void check_packed(const char* op, const Tensor& data, const Tensor& batch_sizes) {
  if (!batch_sizes.defined() || !batch_sizes.is_cpu() || batch_sizes.dtype() != kInt64 ||
      batch_sizes.dim() != 1 || batch_sizes.numel() == 0) {
    throw Error(fmt::format("{}: expected batch_sizes int64 [T] on the cpu, got others", op));
  }
  check_floating(op, data);
  if (data.dim() != 2) {
    throw ShapeError(
        fmt::format("{}: expected data of shape [rows, I], got {}", op, str(data.sizes())));
  }
  check_batch_sizes(op, batch_sizes, data.size(0));
}

const Tensor& state(const char* op, TensorList hx, size_t i) {
  if (hx.size() != 2)
    throw Error(fmt::format("{}: expected {{h, c}}, got {} states", op, hx.size()));
  return hx[i];
}

std::tuple<Tensor, Tensor> without_c(std::tuple<Tensor, Tensor, Tensor> all) {
  return {std::get<0>(all), std::get<1>(all)};
}

}  // namespace

std::tuple<Tensor, Tensor, Tensor> lstm(const Tensor& input, TensorList hx, TensorList params,
                                        bool has_biases, int64_t num_layers, double dropout,
                                        bool train, bool bidirectional, bool batch_first) {
  const Tensor &h = state("lstm", hx, 0), &c = state("lstm", hx, 1);
  return run_layers(layers_of({"lstm", Kind::lstm, false, has_biases, num_layers, dropout, train,
                               bidirectional, batch_first},
                              input, params),
                    input, h, c, {});
}
std::tuple<Tensor, Tensor, Tensor> lstm(const Tensor& data, const Tensor& batch_sizes,
                                        TensorList hx, TensorList params, bool has_biases,
                                        int64_t num_layers, double dropout, bool train,
                                        bool bidirectional) {
  check_packed("lstm", data, batch_sizes);
  const Tensor &h = state("lstm", hx, 0), &c = state("lstm", hx, 1);
  return run_layers(layers_of({"lstm", Kind::lstm, false, has_biases, num_layers, dropout, train,
                               bidirectional, false},
                              data, params),
                    data, h, c, batch_sizes.contiguous());
}

#define AMBIT_RECURRENT(name, kind, relu)                                                          \
  std::tuple<Tensor, Tensor> name(const Tensor& input, const Tensor& hx, TensorList params,        \
                                  bool has_biases, int64_t num_layers, double dropout, bool train, \
                                  bool bidirectional, bool batch_first) {                          \
    return without_c(run_layers(layers_of({#name, kind, relu, has_biases, num_layers, dropout,     \
                                           train, bidirectional, batch_first},                     \
                                          input, params),                                          \
                                input, hx, {}, {}));                                               \
  }                                                                                                \
  std::tuple<Tensor, Tensor> name(const Tensor& data, const Tensor& batch_sizes, const Tensor& hx, \
                                  TensorList params, bool has_biases, int64_t num_layers,          \
                                  double dropout, bool train, bool bidirectional) {                \
    check_packed(#name, data, batch_sizes);                                                        \
    return without_c(run_layers(layers_of({#name, kind, relu, has_biases, num_layers, dropout,     \
                                           train, bidirectional, false},                           \
                                          data, params),                                           \
                                data, hx, {}, batch_sizes.contiguous()));                          \
  }
AMBIT_RECURRENT(gru, Kind::gru, false)
AMBIT_RECURRENT(rnn_tanh, Kind::rnn, false)
AMBIT_RECURRENT(rnn_relu, Kind::rnn, true)
#undef AMBIT_RECURRENT

namespace {

State one_step(const char* op, Kind kind, bool relu, const Tensor& input, const State& s,
               const Weights& w) {
  const auto again = [&](const Tensor& x, const Tensor& h, const Tensor& c, const Tensor& w_ih,
                         const Tensor& w_hh, const Tensor& b_ih, const Tensor& b_hh) {
    return one_step(op, kind, relu, x, {h, c}, {w_ih, w_hh, b_ih, b_hh, {}});
  };
  AMBIT_AUTOCAST_AS("lstm_cell", again, input, s.h, s.c, w.ih, w.hh, w.b_ih, w.b_hh)
  check_floating(op, input);
  check_same_device(op, {{"input", input},
                         {"hx", s.h},
                         {"cx", s.c},
                         {"w_ih", w.ih},
                         {"w_hh", w.hh},
                         {"b_ih", w.b_ih},
                         {"b_hh", w.b_hh}});
  if (!w.hh.defined() || w.hh.dim() != 2 || (input.dim() != 1 && input.dim() != 2)) {
    throw ShapeError(
        fmt::format("{}: expected an input [B,I] or [I] and w_hh [G H, H], got {} and {}", op,
                    str(input.sizes()), w.hh.defined() ? str(w.hh.sizes()) : "none"));
  }
  const int64_t hidden = w.hh.size(1), rows = hidden * gates(kind);
  check_weight(op, "w_ih", w.ih, {rows, input.size(-1)}, input.dtype());
  check_weight(op, "w_hh", w.hh, {rows, hidden}, input.dtype());
  if (w.b_ih.defined()) check_weight(op, "b_ih", w.b_ih, {rows}, input.dtype());
  if (w.b_hh.defined()) check_weight(op, "b_hh", w.b_hh, {rows}, input.dtype());
  Dims sizes(input.sizes());
  sizes[sizes.size() - 1] = hidden;
  check_weight(op, "hx", s.h, sizes, input.dtype());
  if (kind == Kind::lstm) check_weight(op, "cx", s.c, sizes, input.dtype());
  return step(kind, relu, linear(input, w.ih, w.b_ih), linear(s.h, w.hh, w.b_hh), s, w);
}

}  // namespace

std::tuple<Tensor, Tensor> lstm_cell(const Tensor& input, TensorList hx, const Tensor& w_ih,
                                     const Tensor& w_hh, const Tensor& b_ih, const Tensor& b_hh) {
  const State s{state("lstm_cell", hx, 0), state("lstm_cell", hx, 1)};
  const State next =
      one_step("lstm_cell", Kind::lstm, false, input, s, {w_ih, w_hh, b_ih, b_hh, {}});
  return {next.h, next.c};
}

#define AMBIT_CELL(name, kind, relu)                                                         \
  Tensor name(const Tensor& input, const Tensor& hx, const Tensor& w_ih, const Tensor& w_hh, \
              const Tensor& b_ih, const Tensor& b_hh) {                                      \
    return one_step(#name, kind, relu, input, {hx, {}}, {w_ih, w_hh, b_ih, b_hh, {}}).h;     \
  }
AMBIT_CELL(gru_cell, Kind::gru, false)
AMBIT_CELL(rnn_tanh_cell, Kind::rnn, false)
AMBIT_CELL(rnn_relu_cell, Kind::rnn, true)
#undef AMBIT_CELL

}  // namespace ambit
