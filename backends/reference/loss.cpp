// Negative log-likelihood and cross-entropy.
#include <ambit/error.h>
#include <ambit/reference.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "runs.h"

namespace ambit::reference {
namespace {

void check_targets(const char* op, const Tensor& target, int64_t C, int64_t ignore_index) {
  const int64_t* t = target.data_ptr<int64_t>();
  for (int64_t n = 0; n < target.numel(); ++n) {
    if (t[n] == ignore_index || (t[n] >= 0 && t[n] < C)) continue;
    throw IndexError(fmt::format("{}: expected a target in [0, {}), got {}", op, C, t[n]));
  }
}

// log(sum of exp(x[c])) of a row, its largest element taken out so that nothing overflows.
template <class T>
double log_sum_exp(const T* x, int64_t C) {
  const auto most = static_cast<double>(*std::max_element(x, x + C));
  double sum = 0;
  for (int64_t c = 0; c < C; ++c) sum += std::exp(static_cast<double>(x[c]) - most);
  return most + std::log(sum);
}

}  // namespace

// y [N], weight_sum [], x [N,C], target [N], w [C]
void nll_loss(Tensor& y, Tensor& weight_sum, const Tensor& x, const Tensor& target, const Tensor& w,
              int64_t ignore_index) {
  count_run();
  const int64_t N = x.size(0), C = x.size(1);
  const int64_t* t = target.data_ptr<int64_t>();
  check_targets("nll_loss", target, C, ignore_index);
  visit(y.dtype(), [&]<class T>() {
    T* py = y.data_ptr<T>();
    const T* px = x.data_ptr<T>();
    const T* pw = w.defined() ? w.data_ptr<T>() : nullptr;
    double sum = 0;
    for (int64_t n = 0; n < N; ++n) {
      const bool counts = t[n] != ignore_index;
      const double weight = !counts ? 0 : pw ? static_cast<double>(pw[t[n]]) : 1;
      py[n] = counts ? static_cast<T>(-weight * static_cast<double>(px[n * C + t[n]])) : T{0};
      sum += weight;
    }
    *weight_sum.data_ptr<T>() = static_cast<T>(sum);
  });
}

// As nll_loss, but x are logits.
void cross_entropy(Tensor& y, Tensor& weight_sum, const Tensor& x, const Tensor& target,
                   const Tensor& w, int64_t ignore_index) {
  count_run();
  const int64_t N = x.size(0), C = x.size(1);
  const int64_t* t = target.data_ptr<int64_t>();
  check_targets("cross_entropy", target, C, ignore_index);
  visit(y.dtype(), [&]<class T>() {
    T* py = y.data_ptr<T>();
    const T* px = x.data_ptr<T>();
    const T* pw = w.defined() ? w.data_ptr<T>() : nullptr;
    double sum = 0;
    for (int64_t n = 0; n < N; ++n) {
      py[n] = 0;
      if (t[n] == ignore_index) continue;
      const double weight = pw ? static_cast<double>(pw[t[n]]) : 1;
      const T* row = px + n * C;
      py[n] = static_cast<T>(weight * (log_sum_exp(row, C) - static_cast<double>(row[t[n]])));
      sum += weight;
    }
    *weight_sum.data_ptr<T>() = static_cast<T>(sum);
  });
}

// dx, x [N,C], g, target [N], w [C]
void cross_entropy_grad(Tensor& dx, const Tensor& g, const Tensor& x, const Tensor& target,
                        const Tensor& w, int64_t ignore_index) {
  count_run();
  const int64_t N = x.size(0), C = x.size(1);
  const int64_t* t = target.data_ptr<int64_t>();
  check_targets("cross_entropy_grad", target, C, ignore_index);
  visit(dx.dtype(), [&]<class T>() {
    T* pdx = dx.data_ptr<T>();
    const T *pg = g.data_ptr<T>(), *px = x.data_ptr<T>();
    const T* pw = w.defined() ? w.data_ptr<T>() : nullptr;
    for (int64_t n = 0; n < N; ++n) {
      const T* row = px + n * C;
      const bool counts = t[n] != ignore_index;
      const double weight = !counts ? 0 : pw ? static_cast<double>(pw[t[n]]) : 1;
      const double slope = weight * static_cast<double>(pg[n * g.stride(0)]);
      const double log_sum = counts ? log_sum_exp(row, C) : 0;
      for (int64_t c = 0; c < C; ++c) {
        const double p = counts ? std::exp(static_cast<double>(row[c]) - log_sum) : 0;
        pdx[n * C + c] = static_cast<T>(slope * (p - (c == t[n] ? 1 : 0)));
      }
    }
  });
}

}  // namespace ambit::reference
