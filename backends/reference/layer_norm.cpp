// Layer and RMS normalisation and their gradient. x [M,N], mean and invstd [M], w and b [N].
#include <ambit/backend/reference.h>

#include <cmath>
#include <vector>

#include "accumulator.h"
#include "runs.h"

namespace ambit::reference {
namespace {

template <class T>
double at(const Tensor& t, int64_t i, double if_undefined) {
  return t.defined() ? static_cast<double>(t.data_ptr<T>()[i]) : if_undefined;
}

}  // namespace

void layer_norm(Tensor& y, Tensor& mean, Tensor& invstd, const Tensor& x, const Tensor& w,
                const Tensor& b, double eps, bool centered) {
  count_run();
  const int64_t M = x.size(0), N = x.size(1);
  visit<dtypes::kFloating>(y.dtype(), [&]<class T>() {
    for (int64_t m = 0; m < M; ++m) {
      T* py = y.data_ptr<T>() + m * N;
      const T* px = x.data_ptr<T>() + m * N;
      // long double can hold the square of any double.
      long double sum = 0, squares = 0;
      for (int64_t n = 0; n < N; ++n) sum += static_cast<double>(px[n]);
      const double center = centered ? static_cast<double>(sum / static_cast<double>(N)) : 0;
      for (int64_t n = 0; n < N; ++n) {
        const long double d = static_cast<long double>(px[n]) - center;
        squares += d * d;
      }
      const long double inverse = 1 / std::sqrt(squares / static_cast<double>(N) + eps);
      mean.data_ptr<T>()[m] = static_cast<T>(center);
      invstd.data_ptr<T>()[m] = static_cast<T>(inverse);
      for (int64_t n = 0; n < N; ++n) {
        const auto u = static_cast<double>((static_cast<long double>(px[n]) - center) * inverse);
        py[n] = static_cast<T>(u * at<T>(w, n, 1) + at<T>(b, n, 0));
      }
    }
  });
}

// With u = (x - mean) invstd and g = dy w: dw = sum over m of dy u, db = sum over m of dy,
//   dx = invstd (g - mean(g) - u mean(g u)), with means over n, mean(g) only if centered.
void layer_norm_grad(Tensor& dx, Tensor& dw, Tensor& db, const Tensor& dy, const Tensor& x,
                     const Tensor& w, const Tensor& mean, const Tensor& invstd, bool centered) {
  count_run();
  const int64_t M = x.size(0), N = x.size(1);
  visit<dtypes::kFloating>(dx.dtype(), [&]<class T>() {
    std::vector<double> sum_dyu(static_cast<size_t>(N)), sum_dy(static_cast<size_t>(N));
    for (int64_t m = 0; m < M; ++m) {
      T* pdx = dx.data_ptr<T>() + m * N;
      const T *pdy = dy.data_ptr<T>() + m * N, *px = x.data_ptr<T>() + m * N;
      const double center = at<T>(mean, m, 0), inverse = at<T>(invstd, m, 1);
      const auto u = [&](int64_t n) { return (static_cast<double>(px[n]) - center) * inverse; };
      const auto g = [&](int64_t n) { return static_cast<double>(pdy[n]) * at<T>(w, n, 1); };
      double sum_g = 0, sum_gu = 0;
      for (int64_t n = 0; n < N; ++n) {
        sum_g += centered ? g(n) : 0;
        sum_gu += g(n) * u(n);
        sum_dyu[static_cast<size_t>(n)] += static_cast<double>(pdy[n]) * u(n);
        sum_dy[static_cast<size_t>(n)] += static_cast<double>(pdy[n]);
      }
      const auto length = static_cast<double>(N);
      for (int64_t n = 0; n < N; ++n) {
        pdx[n] = static_cast<T>(inverse * (g(n) - sum_g / length - u(n) * sum_gu / length));
      }
    }
    store<T>(dw, sum_dyu);
    store<T>(db, sum_dy);
  });
}

}  // namespace ambit::reference
