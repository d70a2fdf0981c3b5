// Attention and steps of recurrent networks, and their gradients.
#include <ambit/backend/kernels.h>
#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "cases.h"
#include "trial.h"

namespace conformance {
namespace {

using namespace ambit;

struct Attention {
  const char* name;
  int64_t B, H, L, S, E, F;
};
const std::vector<Attention> kAttentions = {
    {"one", 1, 1, 1, 1, 1, 1},         {"odd", 2, 3, 7, 5, 3, 4},
    {"long", 1, 2, 70, 131, 8, 5},     {"wide", 1, 1, 5, 3, 65, 80},
    {"heads", 3, 6, 9, 10, 4, 4},      {"blocks", 1, 2, 200, 210, 8, 16},
    {"many_keys", 1, 1, 2, 300, 4, 4}, {"middle", 1, 2, 20, 70, 40, 33},
    {"deep", 1, 1, 33, 40, 96, 128},   {"deeper", 1, 1, 9, 5, 130, 140}};

/// A quarter of the values is -inf and masks a key. If there is a single key, this masks a whole
/// row, which gives NaN.
Values mask_values() {
  return each([]<class T>(Random& random, int64_t) {
    if constexpr (kIsFloat<T>) {
      if (random() % 4 == 0) return -std::numeric_limits<T>::infinity();
    }
    return any_value<T>(random);
  });
}

struct AttentionCase {
  DType dtype;
  Layout layout;
  bool masked, causal;
};

/// Scores are around 1: q and k are up to 3, with standard deviation sqrt(3).
AttentionParams params_of(const Attention& a, const AttentionCase& c) {
  return {.scale = 1 / (3 * std::sqrt(static_cast<double>(a.E))), .causal = c.causal};
}

/// The error of a score in epsilons: E roundings of partial sums below 15 sqrt(E), scaled, and one
/// rounding when a mask up to 3 is added.
double score_error(const Attention& a) { return 2.5 * static_cast<double>(a.E + 1) + 9; }

void begin(Trial& t, const AttentionParams& p, const AttentionCase& c) {
  t.begin(fmt::format("scale {}, causal {}, mask {}", p.scale, p.causal, c.masked));
}

void check_attention(Trial& t, const Attention& a, const AttentionCase& c) {
  const AttentionParams p = params_of(a, c);
  begin(t, p, c);
  const Layout out = for_output(c.layout);
  Operand& y = t.output("y", c.dtype, {a.B, a.H, a.L, a.F}, out);
  Operand& lse = t.output("lse", c.dtype, {2, a.B, a.H, a.L});
  Operand& q = t.input("q", c.dtype, {a.B, a.H, a.L, a.E}, c.layout);
  Operand& k = t.input("k", c.dtype, {a.B, a.H, a.S, a.E}, c.layout);
  Operand& v = t.input("v", c.dtype, {a.B, a.H, a.S, a.F}, c.layout);
  const Dims scores{a.B, a.H, a.L, a.S};
  Operand& mask = c.masked ? t.input("mask", c.dtype, scores, c.layout, mask_values()) : t.absent();
  t.run([&](Side s) { kernels::attention(y[s], lse[s], q[s], k[s], v[s], mask[s], p); });
  const double weight = score_error(a) + static_cast<double>(a.S) + 16;
  t.expect(lse, {4, weight * epsilon(c.dtype), "a score's error, and S roundings of a sum"});
  t.expect(y, {4, 2 * 3 * weight * epsilon(c.dtype),
               "values up to 3 by weights with a score's error, exp's 4 ulp and S roundings"});
}

void check_attention_grad(Trial& t, const Attention& a, const AttentionCase& c) {
  const AttentionParams p = params_of(a, c);
  begin(t, p, c);
  const Layout out = for_output(c.layout);
  const Dims of_q{a.B, a.H, a.L, a.E}, of_k{a.B, a.H, a.S, a.E}, of_v{a.B, a.H, a.S, a.F},
      of_y{a.B, a.H, a.L, a.F};
  Operand& dq = t.output("dq", c.dtype, of_q, out);
  Operand& dk = t.output("dk", c.dtype, of_k, out);
  Operand& dv = t.output("dv", c.dtype, of_v, out);
  Operand& dy = t.input("dy", c.dtype, of_y, c.layout);
  Operand& q = t.input("q", c.dtype, of_q, c.layout);
  Operand& k = t.input("k", c.dtype, of_k, c.layout);
  Operand& v = t.input("v", c.dtype, of_v, c.layout);
  const Dims scores{a.B, a.H, a.L, a.S};
  Operand& mask = c.masked ? t.input("mask", c.dtype, scores, c.layout, mask_values()) : t.absent();
  Operand& y = t.input("y", c.dtype, of_y, c.layout);
  const Dims levels{2, a.B, a.H, a.L};
  Operand& lse = t.input("lse", c.dtype, levels, Layout::contiguous, between(2, 2.5));
  t.run([&](Side s) {
    kernels::attention_grad(dq[s], dk[s], dv[s], dy[s], q[s], k[s], v[s], mask[s], y[s], lse[s], p);
  });
  // The exponential of a score is e^0.5 on average, and a mask up to 3 multiplies it by e^3 / 6 on
  // average. With lse above 2 + 2, weights are below 0.1 on average; 0.4 includes a margin for few
  // keys. Weights are multiplied by two sums of F products, each below 15 sqrt(F), with F
  // roundings.
  const double error = score_error(a) + 8, F = static_cast<double>(a.F);
  const auto sum = [&](int64_t n, double factor, double terms, double rounded) {
    const auto count = static_cast<double>(n);
    return factor * 0.4 * count * (terms * (error + count) + rounded) * epsilon(c.dtype);
  };
  const double terms = 30 * std::sqrt(F), rounded = 15 * F * std::sqrt(F);
  t.expect(dq, {4, sum(a.S, 3 * p.scale, terms, rounded), "S terms of 0.4 * 30 sqrt(F) * 3"});
  t.expect(dk, {4, sum(a.L, 3 * p.scale, terms, rounded), "L terms of 0.4 * 30 sqrt(F) * 3"});
  t.expect(dv, {4, sum(a.L, 3, 1, 0), "L terms of 0.4 * 3"});
}

void add_attention_cases(Cases& cases, const Attention& a, DType dtype) {
  const bool large = a.L * a.S > 10000;  // slow on the reference
  const auto add = [&](const char* op, auto check) {
    cases.push_back(
        kernel_case(fmt::format("{}/{}/{}", op, name(dtype), a.name), [=, &a](Trial& t) {
          for (const Layout layout : kLayouts) {
            if (large && layout != Layout::contiguous && layout != Layout::transposed) continue;
            for (const bool masked : {false, true}) {
              for (const bool causal : {false, true}) {
                check(t, a, AttentionCase{dtype, layout, masked, causal});
              }
            }
          }
        }));
  };
  add("attention", check_attention);
  add("attention_grad", check_attention_grad);
}

struct States {
  const char* name;
  int64_t B, H;
};
const std::vector<States> kStates = {
    {"one", 1, 1}, {"odd", 3, 7}, {"rows", 31, 65}, {"none", 0, 5}};

Bound cell_bound(DType dtype) {
  return {8, 32 * epsilon(dtype), "functions good to 4 ulp of sums up to 6, and sums of up to 4"};
}
Bound cell_grad_bound(DType dtype) {
  return {
      8, 128 * epsilon(dtype),
      "five roundings, and tanh's 4 ulp, of products up to (3 + 3) * 3 and differences of them"};
}

void check_lstm_cell(Trial& t, const States& c, DType dtype, Layout layout) {
  t.begin();
  const Dims state{c.B, c.H}, four{c.B, 4 * c.H};
  Operand& h = t.output("h", dtype, state, layout);
  Operand& next = t.output("c", dtype, state, layout);
  Operand& gates = t.output("gates", dtype, four, layout);
  Operand& a = t.input("a", dtype, four, layout);
  Operand& b = t.input("b", dtype, four, layout);
  Operand& c0 = t.input("c0", dtype, state, layout);
  t.run([&](Side s) { kernels::lstm_cell(h[s], next[s], gates[s], a[s], b[s], c0[s]); });
  for (Operand* out : {&h, &next, &gates}) t.expect(*out, cell_bound(dtype));
}

void check_lstm_cell_grad(Trial& t, const States& c, DType dtype, Layout layout) {
  for (const bool of_h : {true, false}) {
    for (const bool of_c : {true, false}) {
      t.begin(fmt::format("dh {}, dc {}", of_h, of_c));
      const Dims state{c.B, c.H}, four{c.B, 4 * c.H};
      Operand& da = t.output("da", dtype, four, layout);
      Operand& dc0 = t.output("dc0", dtype, state, layout);
      Operand& dh = of_h ? t.input("dh", dtype, state, layout) : t.absent();
      Operand& dc = of_c ? t.input("dc", dtype, state, layout) : t.absent();
      Operand& gates = t.input("gates", dtype, four, layout, between(0, 1));
      Operand& next = t.input("c", dtype, state, layout);
      Operand& c0 = t.input("c0", dtype, state, layout);
      t.run([&](Side s) {
        kernels::lstm_cell_grad(da[s], dc0[s], dh[s], dc[s], gates[s], next[s], c0[s]);
      });
      t.expect(da, cell_grad_bound(dtype));
      t.expect(dc0, cell_grad_bound(dtype));
    }
  }
}

void check_gru_cell(Trial& t, const States& c, DType dtype, Layout layout) {
  t.begin();
  const Dims state{c.B, c.H}, three{c.B, 3 * c.H};
  Operand& h = t.output("h", dtype, state, layout);
  Operand& gates = t.output("gates", dtype, {c.B, 4 * c.H}, layout);
  Operand& a = t.input("a", dtype, three, layout);
  Operand& b = t.input("b", dtype, three, layout);
  Operand& h0 = t.input("h0", dtype, state, layout);
  t.run([&](Side s) { kernels::gru_cell(h[s], gates[s], a[s], b[s], h0[s]); });
  t.expect(h, cell_bound(dtype));
  t.expect(gates, cell_bound(dtype));
}

void check_gru_cell_grad(Trial& t, const States& c, DType dtype, Layout layout) {
  t.begin();
  const Dims state{c.B, c.H}, three{c.B, 3 * c.H};
  Operand& da = t.output("da", dtype, three, layout);
  Operand& db = t.output("db", dtype, three, layout);
  Operand& dh0 = t.output("dh0", dtype, state, layout);
  Operand& dh = t.input("dh", dtype, state, layout);
  Operand& gates = t.input("gates", dtype, {c.B, 4 * c.H}, layout, between(0, 1));
  Operand& h0 = t.input("h0", dtype, state, layout);
  t.run([&](Side s) { kernels::gru_cell_grad(da[s], db[s], dh0[s], dh[s], gates[s], h0[s]); });
  for (Operand* out : {&da, &db, &dh0}) t.expect(*out, cell_grad_bound(dtype));
}

void add_cell_cases(Cases& cases, const States& c, DType dtype) {
  const auto add = [&](const char* op, auto check) {
    cases.push_back(
        kernel_case(fmt::format("{}/{}/{}", op, name(dtype), c.name), [=, &c](Trial& t) {
          for (const Layout layout : {Layout::contiguous, Layout::offset}) {
            check(t, c, dtype, layout);
          }
        }));
  };
  add("lstm_cell", check_lstm_cell);
  add("lstm_cell_grad", check_lstm_cell_grad);
  add("gru_cell", check_gru_cell);
  add("gru_cell_grad", check_gru_cell_grad);
}

}  // namespace

void add_sequence_cases(Cases& cases) {
  for (const DType dtype : dtypes::kAnyFloating) {
    for (const Attention& a : kAttentions) add_attention_cases(cases, a, dtype);
    for (const States& c : kStates) add_cell_cases(cases, c, dtype);
  }
}

}  // namespace conformance
