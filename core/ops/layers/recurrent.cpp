// Steps of LSTM and GRU: one kernel for each direction. The activated gates are an output with a
// history, so that the gradient can be differentiated without recomputing them.
#include <ambit/backend/kernels.h>
#include <ambit/detail/autocast.h>
#include <ambit/detail/record.h>
#include <ambit/detail/recurrent.h>
#include <ambit/error.h>
#include <ambit/ops/creation.h>
#include <ambit/ops/elementwise.h>
#include <ambit/ops/shape.h>
#include <fmt/format.h>

#include <array>

#include "core/ops/composite.h"
#include "core/ops/operands/allocate.h"
#include "core/ops/operands/expect.h"
#include "core/ops/operands/operand_grad.h"
#include "core/ops/operands/unrecorded.h"

namespace ambit {
namespace {

// Return part `i` of `parts`, [B,H], of t [B, parts H].
Tensor part(const Tensor& t, int64_t i, int64_t parts) {
  const int64_t H = t.size(1) / parts;
  return narrow(t, 1, i * H, H);
}

Tensor or_zeros(const Tensor& t, const Tensor& like) { return t.defined() ? t : zeros_like(like); }

// Return x plus part i of the gates' own gradient, which is defined only in double backward.
Tensor with_own(const Tensor& x, const Tensor& own, int64_t i) {
  return own.defined() ? x + part(own, i, 4) : x;
}

struct LstmGrads {
  Tensor da, dc0;
};

// With t = tanh(c): dc += dh o (1 - t^2); gradients of the gates before activation:
//   i: dc g i (1 - i), f: dc c0 f (1 - f), g: dc i (1 - g^2), o: dh t o (1 - o); dc0 = dc f
LstmGrads lstm_grads_formula(const Tensor& dh, const Tensor& dc, const Tensor& own,
                             const Tensor& gates, const Tensor& c, const Tensor& c0) {
  const Tensor i = part(gates, 0, 4), f = part(gates, 1, 4), g = part(gates, 2, 4),
               o = part(gates, 3, 4), t = tanh(c), above = or_zeros(dh, c);
  const Tensor all = or_zeros(dc, c) + above * o * (1 - t * t);
  return {cat({with_own(all * g, own, 0) * i * (1 - i), with_own(all * c0, own, 1) * f * (1 - f),
               with_own(all * i, own, 2) * (1 - g * g), with_own(above * t, own, 3) * o * (1 - o)},
              1),
          all * f};
}

struct GruGrads {
  Tensor da, db, dh0;
};

// With m, the third part of b: gradients of the gates before activation:
//   n: dn = dh (1 - z) (1 - n^2), r: dn m r (1 - r), z: dh (h0 - n) z (1 - z)
// The gradient of m is dn r; dh0 = dh z.
GruGrads gru_grads_formula(const Tensor& dh, const Tensor& own, const Tensor& gates,
                           const Tensor& h0) {
  const Tensor r = part(gates, 0, 4), z = part(gates, 1, 4), n = part(gates, 2, 4),
               m = part(gates, 3, 4), above = or_zeros(dh, h0);
  const Tensor dn = with_own(above * (1 - z), own, 2) * (1 - n * n);
  const Tensor dr = with_own(dn * m, own, 0) * r * (1 - r);
  const Tensor dz = with_own(above * (h0 - n), own, 1) * z * (1 - z);
  return {cat({dr, dz, dn}, 1), cat({dr, dz, with_own(dn * r, own, 3)}, 1), above * z};
}

// A step's history. Its outputs: h, for an LSTM c, and last the gates.
class StepNode : public Node {
 public:
  StepNode(const char* op, uint32_t outputs, const Tensor& a, const Tensor& b, const Tensor& state)
      : Node(op, outputs),
        edges_{gradient_edge(a), gradient_edge(b), gradient_edge(state)},
        state_(Saved::in_node(state)) {}
  bool release() override {
    state_ = gates_ = next_ = {};
    return true;
  }
  std::span<Edge> edges() override { return edges_; }

 protected:
  std::array<Edge, 3> edges_;
  Saved state_, gates_, next_;  // c0 or h0; the gates; c
};

class LstmNode final : public StepNode {
 public:
  LstmNode(const Tensor& a, const Tensor& b, const Tensor& c0, const Tensor& c, const Tensor& gates)
      : StepNode("lstm_cell", 3, a, b, c0) {
    next_ = Saved(c, 1);
    gates_ = Saved(gates, 2);
  }
  void apply(std::span<const Tensor> out, std::span<Tensor> in,
             std::span<const uint8_t> wanted) override {
    if (!out[0].defined() && !out[1].defined() && !out[2].defined()) return;
    const Tensor gates = gates_(), c = next_(), c0 = state_();
    LstmGrads g;
    if (GradMode::is_enabled() || out[2].defined()) {
      g = lstm_grads_formula(out[0], out[1], out[2], gates, c, c0);
    } else {
      g = {allocate(op(), gates.sizes(), c.dtype(), c.device()),
           allocate(op(), c.sizes(), c.dtype(), c.device())};
      kernels::lstm_cell_grad(g.da, g.dc0, dense(out[0]), dense(out[1]), gates, c, dense(c0));
    }
    if (wanted[0]) in[0] = g.da;
    if (wanted[1]) in[1] = g.da;
    if (wanted[2]) in[2] = std::move(g.dc0);
  }
};

class GruNode final : public StepNode {
 public:
  GruNode(const Tensor& a, const Tensor& b, const Tensor& h0, const Tensor& gates)
      : StepNode("gru_cell", 2, a, b, h0) {
    gates_ = Saved(gates, 1);
  }
  void apply(std::span<const Tensor> out, std::span<Tensor> in,
             std::span<const uint8_t> wanted) override {
    if (!out[0].defined() && !out[1].defined()) return;
    const Tensor gates = gates_(), h0 = state_();
    GruGrads g;
    if (GradMode::is_enabled() || out[1].defined()) {
      g = gru_grads_formula(out[0], out[1], gates, h0);
    } else {
      const auto make = [&](int64_t parts) {
        return allocate(op(), {h0.size(0), parts * h0.size(1)}, h0.dtype(), h0.device());
      };
      g = {make(3), make(3), make(1)};
      kernels::gru_cell_grad(g.da, g.db, g.dh0, dense(out[0]), gates, dense(h0));
    }
    if (wanted[0]) in[0] = std::move(g.da);
    if (wanted[1]) in[1] = std::move(g.db);
    if (wanted[2]) in[2] = std::move(g.dh0);
  }
};

void check(const char* op, int64_t parts, const Tensor& a, const Tensor& b, const Tensor& state) {
  expect_defined(op, "input_gates", a);
  expect_defined(op, "hidden_gates", b);
  expect_defined(op, "state", state);
  check_devices(op, {{"input_gates", a}, {"hidden_gates", b}, {"state", state}});
  expect_floating(op, a);
  expect_dtype(op, "hidden_gates", b, a.dtype());
  expect_dtype(op, "state", state, a.dtype());
  expect_dim(op, "state", state, 2, "a matrix");
  const Dims gates{state.size(0), parts * state.size(1)};
  expect_sizes(op, "input_gates", a, gates);
  expect_sizes(op, "hidden_gates", b, gates);
}

}  // namespace

std::tuple<Tensor, Tensor> lstm_step(const Tensor& a, const Tensor& b, const Tensor& c0) {
  AMBIT_AUTOCAST_AS("lstm_cell", lstm_step, a, b, c0)
  constexpr const char* kName = "lstm_cell";
  check(kName, 4, a, b, c0);
  const auto make = [&](IntArrayRef sizes) {
    return allocate(kName, sizes, a.dtype(), a.device());
  };
  Tensor h = make(c0.sizes()), c = make(c0.sizes()), gates = make(a.sizes());
  kernels::lstm_cell(h, c, gates, dense(a), dense(b), dense(c0));
  if (needs_gradient(a, b, c0)) {
    const intrusive_ptr<Node> node(new LstmNode(a, b, c0, c, gates));
    set_history(h, node, 0);
    set_history(c, node, 1);
    set_history(gates, node, 2);
  }
  return {h, c};
}

Tensor gru_step(const Tensor& a, const Tensor& b, const Tensor& h0) {
  AMBIT_AUTOCAST_AS("gru_cell", gru_step, a, b, h0)
  constexpr const char* kName = "gru_cell";
  check(kName, 3, a, b, h0);
  const auto make = [&](IntArrayRef sizes) {
    return allocate(kName, sizes, a.dtype(), a.device());
  };
  Tensor h = make(h0.sizes()), gates = make({h0.size(0), 4 * h0.size(1)});
  kernels::gru_cell(h, gates, dense(a), dense(b), dense(h0));
  if (needs_gradient(a, b, h0)) {
    const intrusive_ptr<Node> node(new GruNode(a, b, h0, gates));
    set_history(h, node, 0);
    set_history(gates, node, 1);
  }
  return h;
}

void composite::lstm_cell(Tensor& h, Tensor& c, Tensor& gates, const Tensor& a, const Tensor& b,
                          const Tensor& c0) {
  const Tensor sums = a + b;
  const auto put = [&](int64_t i, const Tensor& gate) { part(gates, i, 4).copy_(gate); };
  put(0, sigmoid(part(sums, 0, 4)));
  put(1, sigmoid(part(sums, 1, 4)));
  put(2, tanh(part(sums, 2, 4)));
  put(3, sigmoid(part(sums, 3, 4)));
  c.copy_(part(gates, 1, 4) * c0 + part(gates, 0, 4) * part(gates, 2, 4));
  h.copy_(part(gates, 3, 4) * tanh(c));
}

void composite::lstm_cell_grad(Tensor& da, Tensor& dc0, const Tensor& dh, const Tensor& dc,
                               const Tensor& gates, const Tensor& c, const Tensor& c0) {
  const LstmGrads g = lstm_grads_formula(dh, dc, {}, gates, c, c0);
  da.copy_(g.da);
  dc0.copy_(g.dc0);
}

void composite::gru_cell(Tensor& h, Tensor& gates, const Tensor& a, const Tensor& b,
                         const Tensor& h0) {
  const Tensor r = sigmoid(part(a, 0, 3) + part(b, 0, 3));
  const Tensor z = sigmoid(part(a, 1, 3) + part(b, 1, 3));
  const Tensor n = tanh(part(a, 2, 3) + r * part(b, 2, 3));
  part(gates, 0, 4).copy_(r);
  part(gates, 1, 4).copy_(z);
  part(gates, 2, 4).copy_(n);
  part(gates, 3, 4).copy_(part(b, 2, 3));
  h.copy_(n + z * (h0 - n));
}

void composite::gru_cell_grad(Tensor& da, Tensor& db, Tensor& dh0, const Tensor& dh,
                              const Tensor& gates, const Tensor& h0) {
  const GruGrads g = gru_grads_formula(dh, {}, gates, h0);
  da.copy_(g.da);
  db.copy_(g.db);
  dh0.copy_(g.dh0);
}

}  // namespace ambit
