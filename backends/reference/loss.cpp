// Negative log-likelihood.
#include <ambit/error.h>
#include <ambit/reference.h>
#include <fmt/format.h>

#include "runs.h"

namespace ambit::reference {

// y [N], weight_sum [], x [N,C], target [N], w [C]
void nll_loss(Tensor& y, Tensor& weight_sum, const Tensor& x, const Tensor& target, const Tensor& w,
              int64_t ignore_index) {
  count_run();
  const int64_t N = x.size(0), C = x.size(1);
  const int64_t* t = target.data_ptr<int64_t>();
  for (int64_t n = 0; n < N; ++n) {
    if (t[n] == ignore_index || (t[n] >= 0 && t[n] < C)) continue;
    throw IndexError(fmt::format("nll_loss: expected a target in [0, {}), got {}", C, t[n]));
  }
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

}  // namespace ambit::reference
