// Group normalisation and its gradient. x [N,C,...], mean and invstd [N,G], w and b [C].
#include <ambit/backend/reference.h>

#include <cmath>
#include <vector>

#include "accumulator.h"
#include "runs.h"

namespace ambit::reference {
namespace {

/// The sizes of x: N samples of C channels of `inner` elements, `groups` groups per sample.
struct Groups {
  Groups(const Tensor& x, const Tensor& mean) : C(x.size(1)), groups(mean.size(1)) {
    for (int64_t d = 2; d < x.dim(); ++d) inner *= x.size(d);
    length = C / groups * inner;
    count = x.size(0) * groups;
  }
  /// Return the channel of element j of group i.
  size_t channel(int64_t i, int64_t j) const {
    return static_cast<size_t>(i % groups * (C / groups) + j / inner);
  }
  int64_t C, groups, inner = 1;
  int64_t length, count;  // elements per group; number of groups in all samples
};

template <class T>
double at(const Tensor& t, size_t i, double if_undefined) {
  return t.defined() ? static_cast<double>(t.data_ptr<T>()[i]) : if_undefined;
}

}  // namespace

void group_norm(Tensor& y, Tensor& mean, Tensor& invstd, const Tensor& x, const Tensor& w,
                const Tensor& b, double eps) {
  count_run();
  const Groups s(x, mean);
  visit<dtypes::kFloating>(y.dtype(), [&]<class T>() {
    for (int64_t i = 0; i < s.count; ++i) {
      T* py = y.data_ptr<T>() + i * s.length;
      const T* px = x.data_ptr<T>() + i * s.length;
      // long double can hold the square of any double.
      long double sum = 0, squares = 0;
      for (int64_t j = 0; j < s.length; ++j) sum += static_cast<double>(px[j]);
      const auto center = static_cast<double>(sum / static_cast<double>(s.length));
      for (int64_t j = 0; j < s.length; ++j) {
        const long double d = static_cast<long double>(px[j]) - center;
        squares += d * d;
      }
      const long double inverse = 1 / std::sqrt(squares / static_cast<double>(s.length) + eps);
      mean.data_ptr<T>()[i] = static_cast<T>(center);
      invstd.data_ptr<T>()[i] = static_cast<T>(inverse);
      for (int64_t j = 0; j < s.length; ++j) {
        const auto u = static_cast<double>((static_cast<long double>(px[j]) - center) * inverse);
        const size_t c = s.channel(i, j);
        py[j] = static_cast<T>(u * at<T>(w, c, 1) + at<T>(b, c, 0));
      }
    }
  });
}

// With u = (x - mean) invstd and g = dy w: dw = sum of dy u and db = sum of dy over a channel,
//   dx = invstd (g - mean(g) - u mean(g u)), with means over a group.
void group_norm_grad(Tensor& dx, Tensor& dw, Tensor& db, const Tensor& dy, const Tensor& x,
                     const Tensor& w, const Tensor& mean, const Tensor& invstd) {
  count_run();
  const Groups s(x, mean);
  visit<dtypes::kFloating>(dx.dtype(), [&]<class T>() {
    std::vector<double> sum_dyu(static_cast<size_t>(s.C)), sum_dy(static_cast<size_t>(s.C));
    for (int64_t i = 0; i < s.count; ++i) {
      T* pdx = dx.data_ptr<T>() + i * s.length;
      const T *pdy = dy.data_ptr<T>() + i * s.length, *px = x.data_ptr<T>() + i * s.length;
      const double center = at<T>(mean, static_cast<size_t>(i), 0);
      const double inverse = at<T>(invstd, static_cast<size_t>(i), 1);
      const auto u = [&](int64_t j) { return (static_cast<double>(px[j]) - center) * inverse; };
      const auto g = [&](int64_t j) {
        return static_cast<double>(pdy[j]) * at<T>(w, s.channel(i, j), 1);
      };
      double sum_g = 0, sum_gu = 0;
      for (int64_t j = 0; j < s.length; ++j) {
        sum_g += g(j);
        sum_gu += g(j) * u(j);
        sum_dyu[s.channel(i, j)] += static_cast<double>(pdy[j]) * u(j);
        sum_dy[s.channel(i, j)] += static_cast<double>(pdy[j]);
      }
      const auto n = static_cast<double>(s.length);
      for (int64_t j = 0; j < s.length; ++j) {
        pdx[j] = static_cast<T>(inverse * (g(j) - sum_g / n - u(j) * sum_gu / n));
      }
    }
    store<T>(dw, sum_dyu);
    store<T>(db, sum_dy);
  });
}

}  // namespace ambit::reference
