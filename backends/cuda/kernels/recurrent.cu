// Steps of LSTM and GRU and their gradients, one thread per element of the state; formulas:
// core/ops/layers/recurrent.cpp.
#include "backends/cuda/kernels.h"
#include "backends/cuda/loops/element16.cuh"
#include "backends/cuda/runtime/launch.h"

namespace ambit::cuda {
namespace {

template <class T>
const T* data_or_null(const Tensor& t) {
  return t.defined() ? t.data_ptr<T>() : nullptr;
}

/// A state [B,H]. Element n corresponds to element at(n, i, parts) of part i of the gates.
struct State {
  explicit State(const Tensor& t) : count(t.numel()), H(t.size(1)) {}
  __device__ int64_t at(int64_t n, int i, int parts) const {
    return (n / H * parts + i) * H + n % H;
  }
  int64_t count, H;
};

template <class T>
__device__ T sigmoid(T x) {
  return 1 / (1 + std::exp(-x));
}

template <class T>
__global__ void lstm(State s, T* h, T* c, T* gates, const T* a, const T* b, const T* c0) {
  using S = Computed<T>;
  for (int64_t n = thread_index(); n < s.count; n += thread_count()) {
    const auto sum = [&](int i) { return upcast(a[s.at(n, i, 4)]) + upcast(b[s.at(n, i, 4)]); };
    const S i = sigmoid(sum(0)), f = sigmoid(sum(1)), g = std::tanh(sum(2)), o = sigmoid(sum(3));
    const S next = f * upcast(c0[n]) + i * g;
    c[n] = downcast<T>(next);
    h[n] = downcast<T>(o * std::tanh(next));
    gates[s.at(n, 0, 4)] = downcast<T>(i);
    gates[s.at(n, 1, 4)] = downcast<T>(f);
    gates[s.at(n, 2, 4)] = downcast<T>(g);
    gates[s.at(n, 3, 4)] = downcast<T>(o);
  }
}

template <class T>
__global__ void lstm_grad(State s, T* da, T* dc0, const T* dh, const T* dc, const T* gates,
                          const T* c, const T* c0) {
  using S = Computed<T>;
  for (int64_t n = thread_index(); n < s.count; n += thread_count()) {
    const auto gate = [&](int i) { return upcast(gates[s.at(n, i, 4)]); };
    const S i = gate(0), f = gate(1), g = gate(2), o = gate(3), t = std::tanh(upcast(c[n]));
    const S above = dh ? upcast(dh[n]) : S(0);
    const S all = (dc ? upcast(dc[n]) : S(0)) + above * o * (1 - t * t);
    da[s.at(n, 0, 4)] = downcast<T>(all * g * i * (1 - i));
    da[s.at(n, 1, 4)] = downcast<T>(all * upcast(c0[n]) * f * (1 - f));
    da[s.at(n, 2, 4)] = downcast<T>(all * i * (1 - g * g));
    da[s.at(n, 3, 4)] = downcast<T>(above * t * o * (1 - o));
    dc0[n] = downcast<T>(all * f);
  }
}

template <class T>
__global__ void gru(State s, T* h, T* gates, const T* a, const T* b, const T* h0) {
  using S = Computed<T>;
  for (int64_t n = thread_index(); n < s.count; n += thread_count()) {
    const auto sum = [&](int i) { return upcast(a[s.at(n, i, 3)]) + upcast(b[s.at(n, i, 3)]); };
    const S r = sigmoid(sum(0)), z = sigmoid(sum(1)), m = upcast(b[s.at(n, 2, 3)]);
    const S next = std::tanh(upcast(a[s.at(n, 2, 3)]) + r * m);
    h[n] = downcast<T>(next + z * (upcast(h0[n]) - next));
    gates[s.at(n, 0, 4)] = downcast<T>(r);
    gates[s.at(n, 1, 4)] = downcast<T>(z);
    gates[s.at(n, 2, 4)] = downcast<T>(next);
    gates[s.at(n, 3, 4)] = downcast<T>(m);
  }
}

template <class T>
__global__ void gru_grad(State s, T* da, T* db, T* dh0, const T* dh, const T* gates, const T* h0) {
  using S = Computed<T>;
  for (int64_t n = thread_index(); n < s.count; n += thread_count()) {
    const auto gate = [&](int i) { return upcast(gates[s.at(n, i, 4)]); };
    const S r = gate(0), z = gate(1), next = gate(2), m = gate(3), g = upcast(dh[n]);
    const S dn = g * (1 - z) * (1 - next * next), dr = dn * m * r * (1 - r);
    const S dz = g * (upcast(h0[n]) - next) * z * (1 - z);
    da[s.at(n, 0, 3)] = db[s.at(n, 0, 3)] = downcast<T>(dr);
    da[s.at(n, 1, 3)] = db[s.at(n, 1, 3)] = downcast<T>(dz);
    da[s.at(n, 2, 3)] = downcast<T>(dn);
    db[s.at(n, 2, 3)] = downcast<T>(dn * r);
    dh0[n] = downcast<T>(g * z);
  }
}

/// Call f.operator()<T>(state, grid) unless the state is empty.
template <class F>
void visit_state(const Tensor& t, const F& f) {
  if (t.numel() == 0) return;
  visit<dtypes::kAnyFloating>(
      t.dtype(), [&]<class T>() { f.template operator()<T>(State(t), grid_for(t.numel())); });
}

}  // namespace

void lstm_cell(Tensor& h, Tensor& c, Tensor& gates, const Tensor& a, const Tensor& b,
               const Tensor& c0) {
  visit_state(h, [&]<class T>(State s, Grid grid) {
    launch(lstm<T>, grid, s, h.data_ptr<T>(), c.data_ptr<T>(), gates.data_ptr<T>(), a.data_ptr<T>(),
           b.data_ptr<T>(), c0.data_ptr<T>());
  });
}

void lstm_cell_grad(Tensor& da, Tensor& dc0, const Tensor& dh, const Tensor& dc,
                    const Tensor& gates, const Tensor& c, const Tensor& c0) {
  visit_state(dc0, [&]<class T>(State s, Grid grid) {
    launch(lstm_grad<T>, grid, s, da.data_ptr<T>(), dc0.data_ptr<T>(), data_or_null<T>(dh),
           data_or_null<T>(dc), gates.data_ptr<T>(), c.data_ptr<T>(), c0.data_ptr<T>());
  });
}

void gru_cell(Tensor& h, Tensor& gates, const Tensor& a, const Tensor& b, const Tensor& h0) {
  visit_state(h, [&]<class T>(State s, Grid grid) {
    launch(gru<T>, grid, s, h.data_ptr<T>(), gates.data_ptr<T>(), a.data_ptr<T>(), b.data_ptr<T>(),
           h0.data_ptr<T>());
  });
}

void gru_cell_grad(Tensor& da, Tensor& db, Tensor& dh0, const Tensor& dh, const Tensor& gates,
                   const Tensor& h0) {
  visit_state(dh0, [&]<class T>(State s, Grid grid) {
    launch(gru_grad<T>, grid, s, da.data_ptr<T>(), db.data_ptr<T>(), dh0.data_ptr<T>(),
           dh.data_ptr<T>(), gates.data_ptr<T>(), h0.data_ptr<T>());
  });
}

}  // namespace ambit::cuda
