// Steps of LSTM and GRU in ops: the composites of their kernels.
#include <ambit/backend/kernels.h>
#include <ambit/ops/creation.h>
#include <ambit/ops/elementwise.h>
#include <ambit/ops/shape.h>

#include "core/ops/composite.h"

namespace ambit {
namespace {

// Part `i` of `parts` [B,H] of t [B, parts H].
Tensor part(const Tensor& t, int64_t i, int64_t parts) {
  const int64_t H = t.size(1) / parts;
  return narrow(t, 1, i * H, H);
}

Tensor or_zeros(const Tensor& t, const Tensor& like) { return t.defined() ? t : zeros_like(like); }

}  // namespace

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

// With t = tanh(c): dc += dh o (1 - t^2); of the gates before their functions
//   i: dc g i (1 - i), f: dc c0 f (1 - f), g: dc i (1 - g^2), o: dh t o (1 - o); dc0 = dc f
// Source: Hochreiter & Schmidhuber 1997; Gers, Schmidhuber & Cummins 2000.
void composite::lstm_cell_grad(Tensor& da, Tensor& dc0, const Tensor& dh, const Tensor& dc,
                               const Tensor& gates, const Tensor& c, const Tensor& c0) {
  const Tensor i = part(gates, 0, 4), f = part(gates, 1, 4), g = part(gates, 2, 4),
               o = part(gates, 3, 4), t = tanh(c), above = or_zeros(dh, c);
  const Tensor all = or_zeros(dc, c) + above * o * (1 - t * t);
  part(da, 0, 4).copy_(all * g * i * (1 - i));
  part(da, 1, 4).copy_(all * c0 * f * (1 - f));
  part(da, 2, 4).copy_(all * i * (1 - g * g));
  part(da, 3, 4).copy_(above * t * o * (1 - o));
  dc0.copy_(all * f);
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

// Before their functions, with m = b's third: n: dn = dh (1 - z) (1 - n^2), r: dn m r (1 - r),
// z: dh (h0 - n) z (1 - z); b's third gets dn r; dh0 = dh z. Source: Cho et al. 2014,
// arXiv:1406.1078.
void composite::gru_cell_grad(Tensor& da, Tensor& db, Tensor& dh0, const Tensor& dh,
                              const Tensor& gates, const Tensor& h0) {
  const Tensor r = part(gates, 0, 4), z = part(gates, 1, 4), n = part(gates, 2, 4),
               m = part(gates, 3, 4);
  const Tensor dn = dh * (1 - z) * (1 - n * n);
  part(da, 0, 3).copy_(dn * m * r * (1 - r));
  part(da, 1, 3).copy_(dh * (h0 - n) * z * (1 - z));
  part(da, 2, 3).copy_(dn);
  db.copy_(da);
  part(db, 2, 3).copy_(dn * r);
  dh0.copy_(dh * z);
}

}  // namespace ambit
