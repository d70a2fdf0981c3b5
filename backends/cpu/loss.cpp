// Negative log-likelihood. One element of each row is read: nothing to vectorise.
#include <ambit/error.h>
#include <fmt/format.h>

#include "kernels.h"

namespace ambit::cpu {

// y [N], weight_sum [], x [N,C], target [N], w [C]
void nll_loss(Tensor& y, Tensor& weight_sum, const Tensor& x, const Tensor& target, const Tensor& w,
              int64_t ignore_index) {
  const int64_t N = x.sizes()[0], C = x.sizes()[1];
  const int64_t* t = target.data_ptr<int64_t>();
  for (int64_t n = 0; n < N; ++n) {
    if (t[n] == ignore_index || (t[n] >= 0 && t[n] < C)) continue;
    throw IndexError(fmt::format("nll_loss: expected a target in [0, {}), got {}", C, t[n]));
  }
  visit(y.dtype(), [&]<class T>() {
    T* loss = y.data_ptr<T>();
    const T* log_probability = x.data_ptr<T>();
    const T* weights = w.defined() ? w.data_ptr<T>() : nullptr;
    double sum = 0;
    for (int64_t n = 0; n < N; ++n) {
      loss[n] = 0;
      if (t[n] == ignore_index) continue;
      const T weight = weights ? weights[t[n]] : T(1);
      loss[n] = static_cast<T>(-weight * log_probability[n * C + t[n]]);
      sum += static_cast<double>(weight);
    }
    *weight_sum.data_ptr<T>() = static_cast<T>(sum);
  });
}

}  // namespace ambit::cpu
