// Steps of LSTM and GRU and their gradients, in one pass over the gates; formulas:
// core/ops/layers/recurrent.cpp.
#include "backends/cpu/runtime/simd_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/recurrent/cells.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "backends/cpu/elementwise/inner_loops-inl.h"
#include "backends/cpu/elementwise/math-inl.h"
#include "backends/cpu/kernels.h"
#include "backends/cpu/runtime/parallel.h"

HWY_BEFORE_NAMESPACE();
namespace ambit::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;
namespace {

/// A vector of states, elements [first, first + n) of row b of H, and the corresponding gates.
template <class T>
struct Place {
  using D = hn::ScalableTag<T>;
  using V = hn::Vec<D>;

  /// Load from part i of `parts` of the row; a state is part 0 of 1. Null data gives 0.
  HWY_INLINE V get(const T* data, int64_t i = 0, int64_t parts = 1) const {
    if (!data) return hn::Zero(D());
    return load(D(), data + (b * parts + i) * H + first, n);
  }
  HWY_INLINE void set(T* data, V v, int64_t i = 0, int64_t parts = 1) const {
    store(v, D(), data + (b * parts + i) * H + first, n);
  }
  int64_t b, H, first, n;
};

/// Call f(place) for all vectors of a state of sizes [B,H].
template <class T, class F>
void for_places(IntArrayRef sizes, const F& f) {
  constexpr int64_t kWork = 64;  // additions that cost as much as an element's functions
  const int64_t H = sizes[1], lanes = static_cast<int64_t>(hn::Lanes(hn::ScalableTag<T>()));
  parallel_for(sizes[0], grain_for(kWork * H), [&](int64_t begin, int64_t end) {
    for (int64_t b = begin; b < end; ++b) {
      for (int64_t first = 0; first < H; first += lanes) f(Place<T>{b, H, first, H - first});
    }
  });
}

template <class D, class V = hn::Vec<D>>
V one_minus(D d, V x) {
  return hn::Sub(hn::Set(d, 1), x);
}
/// Return 1 - x^2.
template <class D, class V = hn::Vec<D>>
V one_minus_square(D d, V x) {
  return hn::NegMulAdd(x, x, hn::Set(d, 1));
}
/// Return x (1 - x).
template <class D, class V = hn::Vec<D>>
V slope(D d, V x) {
  return hn::Mul(x, one_minus(d, x));
}

template <class T>
void lstm(IntArrayRef sizes, T* h, T* c, T* gates, const T* a, const T* b, const T* c0) {
  const hn::ScalableTag<T> d;
  for_places<T>(sizes, [&](const Place<T>& at) {
    const auto sum = [&](int64_t i) { return hn::Add(at.get(a, i, 4), at.get(b, i, 4)); };
    const auto i = Sigmoid()(d, sum(0)), f = Sigmoid()(d, sum(1));
    const auto g = Tanh()(d, sum(2)), o = Sigmoid()(d, sum(3));
    const auto next = hn::MulAdd(f, at.get(c0), hn::Mul(i, g));
    at.set(c, next);
    at.set(h, hn::Mul(o, Tanh()(d, next)));
    at.set(gates, i, 0, 4);
    at.set(gates, f, 1, 4);
    at.set(gates, g, 2, 4);
    at.set(gates, o, 3, 4);
  });
}

template <class T>
void lstm_grad(IntArrayRef sizes, T* da, T* dc0, const T* dh, const T* dc, const T* gates,
               const T* c, const T* c0) {
  const hn::ScalableTag<T> d;
  for_places<T>(sizes, [&](const Place<T>& at) {
    const auto i = at.get(gates, 0, 4), f = at.get(gates, 1, 4);
    const auto g = at.get(gates, 2, 4), o = at.get(gates, 3, 4);
    const auto t = Tanh()(d, at.get(c)), above = at.get(dh);
    const auto all = hn::MulAdd(hn::Mul(above, o), one_minus_square(d, t), at.get(dc));
    at.set(da, hn::Mul(hn::Mul(all, g), slope(d, i)), 0, 4);
    at.set(da, hn::Mul(hn::Mul(all, at.get(c0)), slope(d, f)), 1, 4);
    at.set(da, hn::Mul(hn::Mul(all, i), one_minus_square(d, g)), 2, 4);
    at.set(da, hn::Mul(hn::Mul(above, t), slope(d, o)), 3, 4);
    at.set(dc0, hn::Mul(all, f));
  });
}

template <class T>
void gru(IntArrayRef sizes, T* h, T* gates, const T* a, const T* b, const T* h0) {
  const hn::ScalableTag<T> d;
  for_places<T>(sizes, [&](const Place<T>& at) {
    const auto sum = [&](int64_t i) { return hn::Add(at.get(a, i, 3), at.get(b, i, 3)); };
    const auto r = Sigmoid()(d, sum(0)), z = Sigmoid()(d, sum(1)), m = at.get(b, 2, 3);
    const auto n = Tanh()(d, hn::MulAdd(r, m, at.get(a, 2, 3)));
    at.set(h, hn::MulAdd(z, hn::Sub(at.get(h0), n), n));
    at.set(gates, r, 0, 4);
    at.set(gates, z, 1, 4);
    at.set(gates, n, 2, 4);
    at.set(gates, m, 3, 4);
  });
}

template <class T>
void gru_grad(IntArrayRef sizes, T* da, T* db, T* dh0, const T* dh, const T* gates, const T* h0) {
  const hn::ScalableTag<T> d;
  for_places<T>(sizes, [&](const Place<T>& at) {
    const auto r = at.get(gates, 0, 4), z = at.get(gates, 1, 4);
    const auto n = at.get(gates, 2, 4), m = at.get(gates, 3, 4), g = at.get(dh);
    const auto dn = hn::Mul(hn::Mul(g, one_minus(d, z)), one_minus_square(d, n));
    const auto dr = hn::Mul(hn::Mul(dn, m), slope(d, r));
    const auto dz = hn::Mul(hn::Mul(g, hn::Sub(at.get(h0), n)), slope(d, z));
    for (T* t : {da, db}) {
      at.set(t, dr, 0, 3);
      at.set(t, dz, 1, 3);
    }
    at.set(da, dn, 2, 3);
    at.set(db, hn::Mul(dn, r), 2, 3);
    at.set(dh0, hn::Mul(g, z));
  });
}

/// Return the elements, null for an undefined tensor.
template <class T>
T* data_of(const Tensor& t) {
  return t.defined() ? t.data_ptr<T>() : nullptr;
}

void lstm_any(Tensor& h, Tensor& c, Tensor& gates, const Tensor& a, const Tensor& b,
              const Tensor& c0) {
  visit<dtypes::kFloating>(h.dtype(), [&]<class T>() {
    lstm<T>(h.sizes(), data_of<T>(h), data_of<T>(c), data_of<T>(gates), data_of<T>(a),
            data_of<T>(b), data_of<T>(c0));
  });
}
void lstm_grad_any(Tensor& da, Tensor& dc0, const Tensor& dh, const Tensor& dc, const Tensor& gates,
                   const Tensor& c, const Tensor& c0) {
  visit<dtypes::kFloating>(da.dtype(), [&]<class T>() {
    lstm_grad<T>(dc0.sizes(), data_of<T>(da), data_of<T>(dc0), data_of<T>(dh), data_of<T>(dc),
                 data_of<T>(gates), data_of<T>(c), data_of<T>(c0));
  });
}
void gru_any(Tensor& h, Tensor& gates, const Tensor& a, const Tensor& b, const Tensor& h0) {
  visit<dtypes::kFloating>(h.dtype(), [&]<class T>() {
    gru<T>(h.sizes(), data_of<T>(h), data_of<T>(gates), data_of<T>(a), data_of<T>(b),
           data_of<T>(h0));
  });
}
void gru_grad_any(Tensor& da, Tensor& db, Tensor& dh0, const Tensor& dh, const Tensor& gates,
                  const Tensor& h0) {
  visit<dtypes::kFloating>(da.dtype(), [&]<class T>() {
    gru_grad<T>(dh0.sizes(), data_of<T>(da), data_of<T>(db), data_of<T>(dh0), data_of<T>(dh),
                data_of<T>(gates), data_of<T>(h0));
  });
}

}  // namespace
}  // namespace ambit::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ambit::cpu {

HWY_EXPORT(lstm_any);
HWY_EXPORT(lstm_grad_any);
HWY_EXPORT(gru_any);
HWY_EXPORT(gru_grad_any);

void lstm_cell(Tensor& h, Tensor& c, Tensor& gates, const Tensor& a, const Tensor& b,
               const Tensor& c0) {
  HWY_DYNAMIC_DISPATCH(lstm_any)(h, c, gates, a, b, c0);
}

void lstm_cell_grad(Tensor& da, Tensor& dc0, const Tensor& dh, const Tensor& dc,
                    const Tensor& gates, const Tensor& c, const Tensor& c0) {
  HWY_DYNAMIC_DISPATCH(lstm_grad_any)(da, dc0, dh, dc, gates, c, c0);
}

void gru_cell(Tensor& h, Tensor& gates, const Tensor& a, const Tensor& b, const Tensor& h0) {
  HWY_DYNAMIC_DISPATCH(gru_any)(h, gates, a, b, h0);
}

void gru_cell_grad(Tensor& da, Tensor& db, Tensor& dh0, const Tensor& dh, const Tensor& gates,
                   const Tensor& h0) {
  HWY_DYNAMIC_DISPATCH(gru_grad_any)(da, db, dh0, dh, gates, h0);
}

}  // namespace ambit::cpu
#endif
