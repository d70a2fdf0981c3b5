// Negative log-likelihood and cross-entropy.
#include <ambit/backend/reference.h>
#include <ambit/error.h>
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

// Return log(sum of exp(x[c])) of a row; subtracting the largest element prevents overflow.
template <class T>
double log_sum_exp(const T* x, int64_t C) {
  const auto most = static_cast<double>(*std::max_element(x, x + C));
  double sum = 0;
  for (int64_t c = 0; c < C; ++c) sum += std::exp(static_cast<double>(x[c]) - most);
  return most + std::log(sum);
}

// Return the weight of a row with target t: 0 if it is ignored.
template <class T>
double weight_of(int64_t t, const Tensor& w, int64_t ignore_index) {
  if (t == ignore_index) return 0;
  return w.defined() ? static_cast<double>(w.data_ptr<T>()[t]) : 1;
}

// y [N] = w[target] * loss_of(row of x, C, target), 0 for ignored rows; weight_sum [] = sum of
// w[target].
template <class LossOf>
void losses(const char* op, Tensor& y, Tensor& weight_sum, const Tensor& x, const Tensor& target,
            const Tensor& w, int64_t ignore_index, const LossOf& loss_of) {
  const int64_t N = x.size(0), C = x.size(1);
  const int64_t* t = target.data_ptr<int64_t>();
  check_targets(op, target, C, ignore_index);
  visit(y.dtype(), [&]<class T>() {
    T* py = y.data_ptr<T>();
    const T* px = x.data_ptr<T>();
    double sum = 0;
    for (int64_t n = 0; n < N; ++n) {
      py[n] = 0;
      if (t[n] == ignore_index) continue;
      const double weight = weight_of<T>(t[n], w, ignore_index);
      py[n] = static_cast<T>(weight * loss_of(px + n * C, C, t[n]));
      sum += weight;
    }
    *weight_sum.data_ptr<T>() = static_cast<T>(sum);
  });
}

}  // namespace

// y [N], weight_sum [], x [N,C], target [N], w [C]
void nll_loss(Tensor& y, Tensor& weight_sum, const Tensor& x, const Tensor& target, const Tensor& w,
              int64_t ignore_index) {
  count_run();
  losses("nll_loss", y, weight_sum, x, target, w, ignore_index,
         [](const auto* row, int64_t, int64_t t) { return -static_cast<double>(row[t]); });
}

// As nll_loss, but x are logits.
void cross_entropy(Tensor& y, Tensor& weight_sum, const Tensor& x, const Tensor& target,
                   const Tensor& w, int64_t ignore_index) {
  count_run();
  losses("cross_entropy", y, weight_sum, x, target, w, ignore_index,
         [](const auto* row, int64_t C, int64_t t) {
           return log_sum_exp(row, C) - static_cast<double>(row[t]);
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
    for (int64_t n = 0; n < N; ++n) {
      const T* row = px + n * C;
      // The gradient is 0 even if g is infinite, which happens for a mean over no rows.
      if (t[n] == ignore_index) {
        std::fill_n(pdx + n * C, C, T(0));
        continue;
      }
      const double slope =
          weight_of<T>(t[n], w, ignore_index) * static_cast<double>(pg[n * g.stride(0)]);
      const double log_sum = log_sum_exp(row, C);
      for (int64_t c = 0; c < C; ++c) {
        const double p = std::exp(static_cast<double>(row[c]) - log_sum);
        pdx[n * C + c] = static_cast<T>(slope * (p - (c == t[n] ? 1 : 0)));
      }
    }
  });
}

}  // namespace ambit::reference
