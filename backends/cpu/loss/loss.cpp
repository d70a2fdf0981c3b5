// Classification losses: the negative log-likelihood reads one element of each row; cross-entropy
// and its gradient process each row while it is in the L1 cache.
// In all functions x [N,C], target [N], w [C] or undefined.
#include "backends/cpu/runtime/simd_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/loss/loss.cpp"
#include <ambit/error.h>
#include <fmt/format.h>
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <cmath>

#include "backends/cpu/kernels.h"
#include "backends/cpu/norm/softmax_line-inl.h"
#include "backends/cpu/runtime/parallel.h"

HWY_BEFORE_NAMESPACE();
namespace ambit::cpu::HWY_NAMESPACE {
namespace {

/// y[n] = w[t] * -log(softmax(x[n])[t])
template <class T>
void forward(const Tensor& y, const Tensor& x, const int64_t* target, const T* w,
             int64_t ignore_index) {
  const int64_t C = x.sizes()[1];
  T* loss = y.data_ptr<T>();
  const T* px = x.data_ptr<T>();
  parallel_for(x.sizes()[0], grain_for(8 * C), [&](int64_t begin, int64_t end) {
    for (int64_t n = begin; n < end; ++n) {
      const int64_t t = target[n];
      loss[n] = 0;
      if (t == ignore_index) continue;
      const T* row = px + n * C;
      const T most = largest(C, row);
      const double log_sum = std::log(sum_exponentials<T>(C, nullptr, row, most));
      const T surprise = static_cast<T>(log_sum - static_cast<double>(row[t] - most));
      loss[n] = w ? w[t] * surprise : surprise;
    }
  });
}

/// dx[n] = g[n] * w[t] * (softmax(x[n]) - onehot(t))
template <class T>
void backward(const Tensor& dx, const Tensor& g, const Tensor& x, const int64_t* target, const T* w,
              int64_t ignore_index) {
  const int64_t C = x.sizes()[1], g_stride = g.strides()[0];
  T* pdx = dx.data_ptr<T>();
  const T *pg = g.data_ptr<T>(), *px = x.data_ptr<T>();
  parallel_for(x.sizes()[0], grain_for(8 * C), [&](int64_t begin, int64_t end) {
    for (int64_t n = begin; n < end; ++n) {
      const int64_t t = target[n];
      T* to = pdx + n * C;
      if (t == ignore_index) {
        std::fill_n(to, C, T(0));
        continue;
      }
      const T* row = px + n * C;
      const T slope = w ? w[t] * pg[n * g_stride] : pg[n * g_stride];
      const double sum = sum_exponentials(C, to, row, largest(C, row));
      scale(C, to, static_cast<T>(static_cast<double>(slope) / sum));
      to[t] -= slope;
    }
  });
}

/// Return the data of w [C], null if it is undefined.
template <class T>
const T* weights_of(const Tensor& w) {
  return w.defined() ? w.data_ptr<T>() : nullptr;
}

void forward_any(const Tensor& y, const Tensor& x, const int64_t* target, const Tensor& w,
                 int64_t ignore_index) {
  visit<dtypes::kFloating>(
      y.dtype(), [&]<class T>() { forward(y, x, target, weights_of<T>(w), ignore_index); });
}

void backward_any(const Tensor& dx, const Tensor& g, const Tensor& x, const int64_t* target,
                  const Tensor& w, int64_t ignore_index) {
  visit<dtypes::kFloating>(
      dx.dtype(), [&]<class T>() { backward(dx, g, x, target, weights_of<T>(w), ignore_index); });
}

}  // namespace
}  // namespace ambit::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ambit::cpu {

HWY_EXPORT(forward_any);
HWY_EXPORT(backward_any);

namespace {

void check_targets(const char* op, const Tensor& target, int64_t C, int64_t ignore_index) {
  const int64_t* t = target.data_ptr<int64_t>();
  for (int64_t n = 0; n < target.numel(); ++n) {
    if (t[n] == ignore_index || (t[n] >= 0 && t[n] < C)) continue;
    throw IndexError(fmt::format("{}: expected a target in [0, {}), got {}", op, C, t[n]));
  }
}

/// weight_sum = the sum of w[t]
void sum_weights(const Tensor& weight_sum, const Tensor& target, const Tensor& w,
                 int64_t ignore_index) {
  visit<dtypes::kFloating>(weight_sum.dtype(), [&]<class T>() {
    const T* weights = w.defined() ? w.data_ptr<T>() : nullptr;
    const int64_t* t = target.data_ptr<int64_t>();
    double sum = 0;
    for (int64_t n = 0; n < target.numel(); ++n) {
      if (t[n] != ignore_index) sum += weights ? static_cast<double>(weights[t[n]]) : 1;
    }
    *weight_sum.data_ptr<T>() = static_cast<T>(sum);
  });
}

}  // namespace

void nll_loss(Tensor& y, Tensor& weight_sum, const Tensor& x, const Tensor& target, const Tensor& w,
              int64_t ignore_index) {
  const int64_t N = x.sizes()[0], C = x.sizes()[1];
  check_targets("nll_loss", target, C, ignore_index);
  const int64_t* t = target.data_ptr<int64_t>();
  visit<dtypes::kFloating>(y.dtype(), [&]<class T>() {
    T* loss = y.data_ptr<T>();
    const T* log_probability = x.data_ptr<T>();
    const T* weights = w.defined() ? w.data_ptr<T>() : nullptr;
    for (int64_t n = 0; n < N; ++n) {
      loss[n] = 0;
      if (t[n] == ignore_index) continue;
      const T weight = weights ? weights[t[n]] : T(1);
      loss[n] = static_cast<T>(-weight * log_probability[n * C + t[n]]);
    }
  });
  sum_weights(weight_sum, target, w, ignore_index);
}

void cross_entropy(Tensor& y, Tensor& weight_sum, const Tensor& x, const Tensor& target,
                   const Tensor& w, int64_t ignore_index) {
  check_targets("cross_entropy", target, x.sizes()[1], ignore_index);
  HWY_DYNAMIC_DISPATCH(forward_any)(y, x, target.data_ptr<int64_t>(), w, ignore_index);
  sum_weights(weight_sum, target, w, ignore_index);
}

void cross_entropy_grad(Tensor& dx, const Tensor& g, const Tensor& x, const Tensor& target,
                        const Tensor& w, int64_t ignore_index) {
  check_targets("cross_entropy_grad", target, x.sizes()[1], ignore_index);
  HWY_DYNAMIC_DISPATCH(backward_any)(dx, g, x, target.data_ptr<int64_t>(), w, ignore_index);
}

}  // namespace ambit::cpu
#endif
