// Convolution and its gradients in one to three spatial dims: one loop over all products x * w,
// used for three sums. Sums are accumulated in float64, so that each result is rounded once.
#include <ambit/backend/reference.h>

#include <array>
#include <vector>

#include "accumulator.h"
#include "runs.h"

namespace ambit::reference {
namespace {

// Return the spatial sizes of a tensor [.., .., spatial...] as three numbers; missing leading ones
// are 1.
std::array<int64_t, 3> volume(const Tensor& t) {
  std::array<int64_t, 3> sizes{1, 1, 1};
  for (int64_t i = 1; i <= t.dim() - 2; ++i) sizes[static_cast<size_t>(3 - i)] = t.size(-i);
  return sizes;
}

// Call f(iy, ix, iw) for every product x[ix] * w[iw] that is a term of y[iy].
// y [N,K,...], x [N,C,...], w [K,C/groups,...], all contiguous.
template <class F>
void for_each_product(const Tensor& y, const Tensor& x, const Tensor& w, const ConvParams& p, F f) {
  const int64_t K = y.size(1), C = x.size(1);
  const int64_t C_group = w.size(1), K_group = K / p.groups;
  const auto [O, P, Q] = volume(y);
  const auto [D, H, W] = volume(x);
  const auto [T, R, S] = volume(w);
  const auto front = static_cast<size_t>(5 - y.dim());  // missing leading dims
  // Return the position along dim i of a tap of the window at `place`.
  const auto at = [&](size_t i, int64_t place, int64_t tap) {
    if (i < front) return int64_t{0};
    return place * p.stride[i - front] - p.padding[i - front] + tap * p.dilation[i - front];
  };

  for (int64_t iy = 0; iy < y.numel(); ++iy) {
    const int64_t plane = iy / Q / P / O, n = plane / K, k = plane % K;
    const int64_t o = iy / Q / P % O, i = iy / Q % P, j = iy % Q;  // iy is y[n,k,o,i,j]
    for (int64_t c = 0; c < C_group; ++c) {
      const int64_t block = n * C + k / K_group * C_group + c;
      for (int64_t t = 0; t < T; ++t) {
        const int64_t u = at(0, o, t);
        if (u < 0 || u >= D) continue;
        for (int64_t r = 0; r < R; ++r) {
          const int64_t h = at(1, i, r);
          if (h < 0 || h >= H) continue;
          for (int64_t s = 0; s < S; ++s) {
            const int64_t v = at(2, j, s);
            if (v < 0 || v >= W) continue;
            f(iy, ((block * D + u) * H + h) * W + v, (((k * C_group + c) * T + t) * R + r) * S + s);
          }
        }
      }
    }
  }
}

}  // namespace

// y [N,K,...], x [N,C,...], w [K,C/groups,...], b [K]
void convolution(Tensor& y, const Tensor& x, const Tensor& w, const Tensor& b,
                 const ConvParams& p) {
  count_run();
  visit(y.dtype(), [&]<class T>() {
    const T* px = x.data_ptr<T>();
    const T* pw = w.data_ptr<T>();
    std::vector<double> total(static_cast<size_t>(y.numel()));
    if (b.defined()) {
      const T* pb = b.data_ptr<T>();
      const int64_t K = y.size(1);
      const auto [O, P, Q] = volume(y);
      for (int64_t i = 0; i < y.numel(); ++i) {
        total[static_cast<size_t>(i)] = static_cast<double>(pb[i / Q / P / O % K]);
      }
    }
    for_each_product(y, x, w, p, [&](int64_t iy, int64_t ix, int64_t iw) {
      total[static_cast<size_t>(iy)] += static_cast<double>(px[ix]) * static_cast<double>(pw[iw]);
    });
    store<T>(y, total);
  });
}

// y [N,K,...] = map(convolution of x and w)
void convolution_map(Tensor& y, const Tensor& x, const Tensor& w, const Tensor& b,
                     const ConvParams& p, const ActivationParams& map) {
  convolution(y, x, w, b, p);
  unary(y, y, map);
}

void convolution_input_grad(Tensor& dx, const Tensor& dy, const Tensor& w, const ConvParams& p) {
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

void convolution_weight_grad(Tensor& dw, const Tensor& dy, const Tensor& x, const ConvParams& p) {
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
