// Batch normalisation and its gradient. x [N,C,...] contiguous; all other operands are [C].
#include <ambit/backend/reference.h>

#include <cmath>

#include "runs.h"

namespace ambit::reference {
namespace {

// Positions of channel c in x [N,C,D], where D combines all further dims.
struct Channels {
  explicit Channels(const Tensor& x)
      : N(x.size(0)), C(x.size(1)), D(N * C > 0 ? x.numel() / (N * C) : 0) {}

  /// Call f(i) with the position i of each element of channel c.
  template <class F>
  void for_each(int64_t c, F f) const {
    for (int64_t n = 0; n < N; ++n) {
      for (int64_t d = 0; d < D; ++d) f((n * C + c) * D + d);
    }
  }
  int64_t N, C, D;
};

template <class T>
double at(const Tensor& t, int64_t c, double if_undefined) {
  return t.defined() ? static_cast<double>(t.data_ptr<T>()[c]) : if_undefined;
}

template <class T>
void blend(Tensor& running, int64_t c, double value, double momentum) {
  if (!running.defined()) return;
  T& r = running.data_ptr<T>()[c];
  r = static_cast<T>((1 - momentum) * static_cast<double>(r) + momentum * value);
}

struct Statistics {
  double mean;
  long double variance;  // biased
};

template <class T>
Statistics batch_statistics(const T* x, const Channels& channels, int64_t c) {
  const auto n = static_cast<double>(channels.N * channels.D);
  long double sum = 0, squares = 0;  // long double can hold the square of any double
  channels.for_each(c, [&](int64_t i) { sum += static_cast<double>(x[i]); });
  const auto mean = static_cast<double>(sum / n);
  channels.for_each(c, [&](int64_t i) {
    const long double centred = static_cast<long double>(x[i]) - mean;
    squares += centred * centred;
  });
  return {mean, squares / n};
}

}  // namespace

void batch_norm(Tensor& y, Tensor& mean, Tensor& invstd, Tensor& running_mean, Tensor& running_var,
                const Tensor& x, const Tensor& w, const Tensor& b, const BatchNormParams& p) {
  count_run();
  const Channels channels(x);
  const auto n = static_cast<double>(channels.N * channels.D);
  visit(y.dtype(), [&]<class T>() {
    T* py = y.data_ptr<T>();
    const T* px = x.data_ptr<T>();
    for (int64_t c = 0; c < channels.C; ++c) {
      Statistics s;
      if (p.training) {
        s = batch_statistics(px, channels, c);
        blend<T>(running_mean, c, s.mean, p.momentum);
        blend<T>(running_var, c, static_cast<double>(s.variance * n / (n - 1)), p.momentum);
      } else {
        s = {at<T>(running_mean, c, 0), at<T>(running_var, c, 1)};
      }
      const long double inverse = 1 / std::sqrt(s.variance + p.eps);
      mean.data_ptr<T>()[c] = static_cast<T>(s.mean);
      invstd.data_ptr<T>()[c] = static_cast<T>(inverse);
      const long double scale = inverse * at<T>(w, c, 1), shift = at<T>(b, c, 0);
      channels.for_each(c, [&](int64_t i) {
        const long double y_i = (static_cast<long double>(px[i]) - s.mean) * scale + shift;
        py[i] = static_cast<T>(static_cast<double>(y_i));
      });
    }
  });
}

// With u = (x - mean) invstd: dw = sum(dy u), db = sum(dy),
//   dx = w invstd (dy - db / n - u dw / n) in training, since mean and invstd depend on x,
//   dx = w invstd dy otherwise.
void batch_norm_grad(Tensor& dx, Tensor& dw, Tensor& db, const Tensor& dy, const Tensor& x,
                     const Tensor& w, const Tensor& mean, const Tensor& invstd,
                     const BatchNormParams& p) {
  count_run();
  const Channels channels(x);
  const auto n = static_cast<double>(channels.N * channels.D);
  visit(dx.dtype(), [&]<class T>() {
    T* pdx = dx.data_ptr<T>();
    const T* pdy = dy.data_ptr<T>();
    const T* px = x.data_ptr<T>();
    for (int64_t c = 0; c < channels.C; ++c) {
      const double m = at<T>(mean, c, 0), inverse = at<T>(invstd, c, 1);
      auto g = [&](int64_t i) { return static_cast<double>(pdy[i]); };
      auto u = [&](int64_t i) { return (static_cast<double>(px[i]) - m) * inverse; };
      double sum_g = 0, sum_gu = 0;
      channels.for_each(c, [&](int64_t i) {
        sum_g += g(i);
        sum_gu += g(i) * u(i);
      });
      db.data_ptr<T>()[c] = static_cast<T>(sum_g);
      dw.data_ptr<T>()[c] = static_cast<T>(sum_gu);
      const double scale = at<T>(w, c, 1) * inverse;
      channels.for_each(c, [&](int64_t i) {
        const double through_statistics = p.training ? (sum_g + u(i) * sum_gu) / n : 0;
        pdx[i] = static_cast<T>(scale * (g(i) - through_statistics));
      });
    }
  });
}

}  // namespace ambit::reference
