// One fused step of stochastic gradient descent: each element is read and written once.
#include "simd_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "optim.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "kernels.h"
#include "loops.h"

HWY_BEFORE_NAMESPACE();
namespace ambit::cpu::HWY_NAMESPACE {
namespace {

/// SgdParams as the loop needs them.
template <class T>
struct Step {
  explicit Step(const SgdParams& p)
      : lr(static_cast<T>(p.lr)),
        decay(static_cast<T>(p.weight_decay)),
        keep(static_cast<T>(p.first_step ? 0 : p.momentum)),
        take(static_cast<T>(p.first_step ? 1 : 1 - p.dampening)),
        ahead(static_cast<T>(p.momentum)),
        nesterov(p.nesterov),
        first(p.first_step) {}
  T lr, decay, keep, take, ahead;
  bool nesterov, first;
};

template <class T>
void plain(int64_t n, T* p, const T* g, const Step<T>& s) {
#pragma omp simd
  for (int64_t i = 0; i < n; ++i) p[i] -= s.lr * (g[i] + s.decay * p[i]);
}

template <class T>
void momentum(int64_t n, T* p, T* buf, const T* g, const Step<T>& s) {
#pragma omp simd
  for (int64_t i = 0; i < n; ++i) {
    const T d = g[i] + s.decay * p[i];
    // An unused buffer may hold anything, NaN too.
    const T v = (s.first ? T(0) : s.keep * buf[i]) + s.take * d;
    buf[i] = v;
    p[i] -= s.lr * (s.nesterov ? d + s.ahead * v : v);
  }
}

template <class T>
void step(const Tensor& p, const Tensor& buf, const Tensor& g, const SgdParams& params) {
  const Step<T> s(params);
  const Tensor& second = buf.defined() ? buf : p;
  const auto loops = make_loops<3>({&p, &second, &g});
  T *pp = p.data_ptr<T>(), *pb = second.data_ptr<T>();
  const T* pg = g.data_ptr<T>();
  const auto run = [&](int64_t n, T* value, T* average, const T* slope) {
    if (buf.defined()) return momentum(n, value, average, slope, s);
    plain(n, value, slope, s);
  };
  parallel_rows(loops, kGrain, [&](int64_t n, const std::array<int64_t, 3>& at) {
    T *value = pp + at[0], *average = pb + at[1];
    const T* slope = pg + at[2];
    const int64_t i = loops.inner_stride(0), j = loops.inner_stride(1), k = loops.inner_stride(2);
    if (i == 1 && j == 1 && k == 1) return run(n, value, average, slope);
    for (int64_t m = 0; m < n; ++m) run(1, value + m * i, average + m * j, slope + m * k);
  });
}

void step_any(const Tensor& p, const Tensor& buf, const Tensor& g, const SgdParams& params) {
  if (p.dtype() == kFloat32) return step<float>(p, buf, g, params);
  step<double>(p, buf, g, params);
}

}  // namespace
}  // namespace ambit::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ambit::cpu {

HWY_EXPORT(step_any);

void sgd_step(Tensor& p, Tensor& buf, const Tensor& g, const SgdParams& params) {
  HWY_DYNAMIC_DISPATCH(step_any)(p, buf, g, params);
}

}  // namespace ambit::cpu
#endif
