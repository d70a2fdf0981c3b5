// Steps of LSTM and GRU and their gradients; formulas: core/ops/layers/recurrent.cpp.
#include <ambit/backend/reference.h>

#include <cmath>

#include "runs.h"

namespace ambit::reference {
namespace {

double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

/// Rows that consist of `parts` parts of H elements.
template <class T>
struct Parts {
  Parts(const Tensor& t, int64_t parts)
      : data(t.defined() ? t.data_ptr<T>() : nullptr), n(parts), H(data ? t.size(1) / parts : 0) {}
  /// Return element j of part i of row b; 0 if the tensor is undefined.
  double get(int64_t b, int64_t i, int64_t j) const {
    return data ? static_cast<double>(data[(b * n + i) * H + j]) : 0;
  }
  void set(int64_t b, int64_t i, int64_t j, double x) const {
    data[(b * n + i) * H + j] = static_cast<T>(x);
  }
  T* data;
  int64_t n, H;
};

/// Call f.template operator()<T>(b, j) for every element of a state [B,H].
template <class F>
void for_states(const Tensor& state, const F& f) {
  count_run();
  const int64_t H = state.size(1);
  visit<dtypes::kFloating>(state.dtype(), [&]<class T>() {
    for (int64_t i = 0; i < state.numel(); ++i) f.template operator()<T>(i / H, i % H);
  });
}

}  // namespace

void lstm_cell(Tensor& h, Tensor& c, Tensor& gates, const Tensor& a, const Tensor& b,
               const Tensor& c0) {
  for_states(h, [&]<class T>(int64_t n, int64_t j) {
    const Parts<T> pa(a, 4), pb(b, 4), kept(gates, 4);
    const auto sum = [&](int64_t i) { return pa.get(n, i, j) + pb.get(n, i, j); };
    const double i = sigmoid(sum(0)), f = sigmoid(sum(1)), g = std::tanh(sum(2)),
                 o = sigmoid(sum(3));
    const double next = f * Parts<T>(c0, 1).get(n, 0, j) + i * g;
    Parts<T>(c, 1).set(n, 0, j, next);
    Parts<T>(h, 1).set(n, 0, j, o * std::tanh(next));
    kept.set(n, 0, j, i);
    kept.set(n, 1, j, f);
    kept.set(n, 2, j, g);
    kept.set(n, 3, j, o);
  });
}

void lstm_cell_grad(Tensor& da, Tensor& dc0, const Tensor& dh, const Tensor& dc,
                    const Tensor& gates, const Tensor& c, const Tensor& c0) {
  for_states(dc0, [&]<class T>(int64_t n, int64_t j) {
    const Parts<T> kept(gates, 4), to(da, 4);
    const double i = kept.get(n, 0, j), f = kept.get(n, 1, j), g = kept.get(n, 2, j),
                 o = kept.get(n, 3, j), t = std::tanh(Parts<T>(c, 1).get(n, 0, j));
    const double above = Parts<T>(dh, 1).get(n, 0, j);
    const double all = Parts<T>(dc, 1).get(n, 0, j) + above * o * (1 - t * t);
    to.set(n, 0, j, all * g * i * (1 - i));
    to.set(n, 1, j, all * Parts<T>(c0, 1).get(n, 0, j) * f * (1 - f));
    to.set(n, 2, j, all * i * (1 - g * g));
    to.set(n, 3, j, above * t * o * (1 - o));
    Parts<T>(dc0, 1).set(n, 0, j, all * f);
  });
}

void gru_cell(Tensor& h, Tensor& gates, const Tensor& a, const Tensor& b, const Tensor& h0) {
  for_states(h, [&]<class T>(int64_t n, int64_t j) {
    const Parts<T> pa(a, 3), pb(b, 3), kept(gates, 4);
    const double r = sigmoid(pa.get(n, 0, j) + pb.get(n, 0, j));
    const double z = sigmoid(pa.get(n, 1, j) + pb.get(n, 1, j)), m = pb.get(n, 2, j);
    const double next = std::tanh(pa.get(n, 2, j) + r * m);
    Parts<T>(h, 1).set(n, 0, j, next + z * (Parts<T>(h0, 1).get(n, 0, j) - next));
    kept.set(n, 0, j, r);
    kept.set(n, 1, j, z);
    kept.set(n, 2, j, next);
    kept.set(n, 3, j, m);
  });
}

void gru_cell_grad(Tensor& da, Tensor& db, Tensor& dh0, const Tensor& dh, const Tensor& gates,
                   const Tensor& h0) {
  for_states(dh0, [&]<class T>(int64_t n, int64_t j) {
    const Parts<T> kept(gates, 4), to_a(da, 3), to_b(db, 3);
    const double r = kept.get(n, 0, j), z = kept.get(n, 1, j), next = kept.get(n, 2, j),
                 m = kept.get(n, 3, j), g = Parts<T>(dh, 1).get(n, 0, j);
    const double dn = g * (1 - z) * (1 - next * next), dr = dn * m * r * (1 - r);
    const double dz = g * (Parts<T>(h0, 1).get(n, 0, j) - next) * z * (1 - z);
    to_a.set(n, 0, j, dr);
    to_a.set(n, 1, j, dz);
    to_a.set(n, 2, j, dn);
    to_b.set(n, 0, j, dr);
    to_b.set(n, 1, j, dz);
    to_b.set(n, 2, j, dn * r);
    Parts<T>(dh0, 1).set(n, 0, j, g * z);
  });
}

}  // namespace ambit::reference
