// Steps of optimizers, fused: one pass over the memory of all parameters, each element read and
// written once. Threads share the elements of the whole list, whatever the sizes of its tensors.
#include "simd_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "optim.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <cmath>

#include "kernels.h"
#include "parallel.h"

HWY_BEFORE_NAMESPACE();
namespace ambit::cpu::HWY_NAMESPACE {
namespace {

/// SgdParams as the loops need them.
template <class T>
struct Sgd {
  explicit Sgd(const SgdParams& o)
      : lr(static_cast<T>(o.lr)),
        decay(static_cast<T>(o.weight_decay)),
        keep(static_cast<T>(o.momentum)),
        take(static_cast<T>(1 - o.dampening)),
        nesterov(o.nesterov),
        first(o.first_step) {}
  T lr, decay, keep, take;
  bool nesterov, first;
};

template <class T>
void plain(int64_t n, T* p, const T* g, const Sgd<T>& o) {
#pragma omp simd
  for (int64_t i = 0; i < n; ++i) p[i] -= o.lr * (g[i] + o.decay * p[i]);
}

template <class T>
void momentum(int64_t n, T* p, T* buf, const T* g, const Sgd<T>& o) {
#pragma omp simd
  for (int64_t i = 0; i < n; ++i) {
    const T d = g[i] + o.decay * p[i];
    // An unused buffer may hold anything, NaN too.
    const T b = o.first ? d : o.keep * buf[i] + o.take * d;
    buf[i] = b;
    p[i] -= o.lr * (o.nesterov ? d + o.keep * b : b);
  }
}

/// AdamParams as the loop needs them.
template <class T>
struct Adam {
  explicit Adam(const AdamParams& o)
      : shrink(static_cast<T>(o.decoupled ? 1 - o.lr * o.weight_decay : 1)),
        decay(static_cast<T>(o.decoupled ? 0 : o.weight_decay)),
        beta1(static_cast<T>(o.beta1)),
        beta2(static_cast<T>(o.beta2)),
        take1(static_cast<T>(1 - o.beta1)),
        take2(static_cast<T>(1 - o.beta2)),
        step_size(static_cast<T>(o.step_size())),
        root_scale(static_cast<T>(o.root_scale())),
        eps(static_cast<T>(o.eps)) {}
  T shrink, decay, beta1, beta2, take1, take2, step_size, root_scale, eps;
};

template <class T>
void adam(int64_t n, T* p, T* m, T* v, const T* g, const Adam<T>& o) {
#pragma omp simd
  for (int64_t i = 0; i < n; ++i) {
    const T d = g[i] + o.decay * p[i];
    m[i] = o.beta1 * m[i] + o.take1 * d;
    v[i] = o.beta2 * v[i] + o.take2 * d * d;
    p[i] = o.shrink * p[i] - o.step_size * m[i] / (std::sqrt(v[i]) * o.root_scale + o.eps);
  }
}

/// What a second thread is worth handing over for, read and written: about 7 us. Less than other
/// loops ask for, since a thread finds its share of the parameters in its own cache again.
constexpr int64_t kGrainBytes = int64_t{768} << 10;

/// Call update(i, offset, n) for pieces of the tensors of a list, on several threads where they
/// have much memory together: `bytes` are read and written for an element.
template <class F>
void for_pieces(TensorList list, size_t bytes, const F& update) {
  int64_t total = 0;
  for (const Tensor& t : list) total += t.numel();
  parallel_for(total, kGrainBytes / static_cast<int64_t>(bytes), [&](int64_t begin, int64_t end) {
    int64_t first = 0;  // position of the tensor's first element among those of all
    for (size_t i = 0; first < end; first += list[i++].numel()) {
      const int64_t from = std::max(begin - first, int64_t{0});
      const int64_t to = std::min(end - first, list[i].numel());
      if (from < to) update(i, from, to - from);
    }
  });
}

template <class T>
T* part(TensorList list, size_t i, int64_t from) {
  return list[i].data_ptr<T>() + from;
}

template <class T>
void sgd(TensorList p, TensorList buf, TensorList g, const SgdParams& params) {
  const Sgd<T> o(params);
  for_pieces(p, (buf.empty() ? 3 : 5) * sizeof(T), [&](size_t i, int64_t from, int64_t n) {
    T* const to = part<T>(p, i, from);
    if (buf.empty()) return plain<T>(n, to, part<T>(g, i, from), o);
    momentum<T>(n, to, part<T>(buf, i, from), part<T>(g, i, from), o);
  });
}

template <class T>
void adam(TensorList p, TensorList m, TensorList v, TensorList g, const AdamParams& params) {
  const Adam<T> o(params);
  for_pieces(p, 7 * sizeof(T), [&](size_t i, int64_t from, int64_t n) {
    adam<T>(n, part<T>(p, i, from), part<T>(m, i, from), part<T>(v, i, from), part<T>(g, i, from),
            o);
  });
}

void sgd_any(TensorList p, TensorList buf, TensorList g, const SgdParams& params) {
  if (p[0].dtype() == kFloat32) return sgd<float>(p, buf, g, params);
  sgd<double>(p, buf, g, params);
}

void adam_any(TensorList p, TensorList m, TensorList v, TensorList g, const AdamParams& params) {
  if (p[0].dtype() == kFloat32) return adam<float>(p, m, v, g, params);
  adam<double>(p, m, v, g, params);
}

}  // namespace
}  // namespace ambit::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ambit::cpu {

HWY_EXPORT(sgd_any);
HWY_EXPORT(adam_any);

void sgd_step(TensorList p, TensorList buf, TensorList g, const SgdParams& params) {
  HWY_DYNAMIC_DISPATCH(sgd_any)(p, buf, g, params);
}

void adam_step(TensorList p, TensorList m, TensorList v, TensorList g, const AdamParams& params) {
  HWY_DYNAMIC_DISPATCH(adam_any)(p, m, v, g, params);
}

}  // namespace ambit::cpu
#endif
