// 2-D convolution and its gradients: one walk over all products x * w that make up y, and three
// sums of them. Sums are kept aside in float64, so that each result is rounded once.
#include <ambit/backend/reference.h>

#include <vector>

#include "accumulator.h"
#include "runs.h"

namespace ambit::reference {
namespace {

// Call f(iy, ix, iw) for every product x[ix] * w[iw] that y[iy] is the sum of.
// y [N,K,P,Q], x [N,C,H,W], w [K,C/groups,R,S], all contiguous.
template <class F>
void for_each_product(const Tensor& y, const Tensor& x, const Tensor& w, const Conv2dParams& p,
                      F f) {
  const int64_t N = y.size(0), K = y.size(1), P = y.size(2), Q = y.size(3);
  const int64_t C = x.size(1), H = x.size(2), W = x.size(3);
  const int64_t C_group = w.size(1), R = w.size(2), S = w.size(3), K_group = K / p.groups;

  // The products of y[n,k,i,j], which is element iy.
  auto window = [&](int64_t iy, int64_t n, int64_t k, int64_t i, int64_t j) {
    for (int64_t c = 0; c < C_group; ++c) {
      const int64_t plane = n * C + k / K_group * C_group + c;
      for (int64_t r = 0; r < R; ++r) {
        const int64_t h = i * p.stride[0] - p.padding[0] + r * p.dilation[0];
        if (h < 0 || h >= H) continue;
        for (int64_t s = 0; s < S; ++s) {
          const int64_t v = j * p.stride[1] - p.padding[1] + s * p.dilation[1];
          if (v < 0 || v >= W) continue;
          f(iy, (plane * H + h) * W + v, ((k * C_group + c) * R + r) * S + s);
        }
      }
    }
  };
  int64_t iy = 0;
  for (int64_t n = 0; n < N; ++n) {
    for (int64_t k = 0; k < K; ++k) {
      for (int64_t i = 0; i < P; ++i) {
        for (int64_t j = 0; j < Q; ++j) window(iy++, n, k, i, j);
      }
    }
  }
}

}  // namespace

// y [N,K,P,Q], x [N,C,H,W], w [K,C/groups,R,S], b [K]
void conv2d(Tensor& y, const Tensor& x, const Tensor& w, const Tensor& b, const Conv2dParams& p) {
  count_run();
  visit(y.dtype(), [&]<class T>() {
    const T* px = x.data_ptr<T>();
    const T* pw = w.data_ptr<T>();
    std::vector<double> total(static_cast<size_t>(y.numel()));
    if (b.defined()) {
      const T* pb = b.data_ptr<T>();
      const int64_t K = y.size(1), plane = y.size(2) * y.size(3);
      for (int64_t i = 0; i < y.numel(); ++i) {
        total[static_cast<size_t>(i)] = static_cast<double>(pb[i / plane % K]);
      }
    }
    for_each_product(y, x, w, p, [&](int64_t iy, int64_t ix, int64_t iw) {
      total[static_cast<size_t>(iy)] += static_cast<double>(px[ix]) * static_cast<double>(pw[iw]);
    });
    store<T>(y, total);
  });
}

void conv2d_input_grad(Tensor& dx, const Tensor& dy, const Tensor& w, const Conv2dParams& p) {
  count_run();
  visit(dx.dtype(), [&]<class T>() {
    const T* pdy = dy.data_ptr<T>();
    const T* pw = w.data_ptr<T>();
    std::vector<double> total(static_cast<size_t>(dx.numel()));
    for_each_product(dy, dx, w, p, [&](int64_t iy, int64_t ix, int64_t iw) {
      total[static_cast<size_t>(ix)] += static_cast<double>(pdy[iy]) * static_cast<double>(pw[iw]);
    });
    store<T>(dx, total);
  });
}

void conv2d_weight_grad(Tensor& dw, const Tensor& dy, const Tensor& x, const Conv2dParams& p) {
  count_run();
  visit(dw.dtype(), [&]<class T>() {
    const T* pdy = dy.data_ptr<T>();
    const T* px = x.data_ptr<T>();
    std::vector<double> total(static_cast<size_t>(dw.numel()));
    for_each_product(dy, x, dw, p, [&](int64_t iy, int64_t ix, int64_t iw) {
      total[static_cast<size_t>(iw)] += static_cast<double>(pdy[iy]) * static_cast<double>(px[ix]);
    });
    store<T>(dw, total);
  });
}

}  // namespace ambit::reference
