// 2-D maximum and average pooling and their gradients. All tensors are contiguous.
#include <ambit/backend/reference.h>
#include <ambit/error.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "accumulator.h"
#include "runs.h"

namespace ambit::reference {
namespace {

// The part of the input that one window covers along h or w: begin, begin + step, ... before end.
// `extent` counts the padding too, as far as the padding goes.
struct Range {
  int64_t begin, end, step, extent;
};

Range range(int64_t i, int64_t size, const PoolParams& p, size_t d) {
  const int64_t step = p.dilation[d];
  int64_t begin = i * p.stride[d] - p.padding[d];
  const int64_t end = begin + step * (p.kernel[d] - 1) + 1;
  const int64_t extent = std::min(end, size + p.padding[d]) - begin;
  while (begin < 0) begin += step;
  return {begin, std::max(begin, std::min(end, size)), step, extent};
}

// Call f(iy, plane, h, w) for every window: iy counts the elements of y [N,C,P,Q], plane those of N
// and C, h and w are what the window covers in x [N,C,H,W].
template <class F>
void for_each_window(const Tensor& y, const Tensor& x, const PoolParams& p, F f) {
  const int64_t planes = y.size(0) * y.size(1), P = y.size(2), Q = y.size(3);
  int64_t iy = 0;
  for (int64_t plane = 0; plane < planes; ++plane) {
    for (int64_t i = 0; i < P; ++i) {
      for (int64_t j = 0; j < Q; ++j) {
        f(iy++, plane, range(i, x.size(2), p, 0), range(j, x.size(3), p, 1));
      }
    }
  }
}

// How many elements an average is over; 1 for a window on padding alone, whose average is 0.
double divisor(const Range& h, const Range& w, const PoolParams& p) {
  const int64_t n =
      p.count_include_pad ? h.extent * w.extent : (h.end - h.begin) * (w.end - w.begin);
  return static_cast<double>(std::max<int64_t>(n, 1));
}

}  // namespace

// y, index [N,C,P,Q] or undefined, x [N,C,H,W]
void max_pool(Tensor& y, Tensor& index, const Tensor& x, const PoolParams& p) {
  count_run();
  const int64_t H = x.size(2), W = x.size(3);
  int32_t* pi = index.defined() ? index.data_ptr<int32_t>() : nullptr;
  visit(y.dtype(), [&]<class T>() {
    T* py = y.data_ptr<T>();
    const T* px = x.data_ptr<T>();
    for_each_window(y, x, p, [&](int64_t iy, int64_t plane, Range h, Range w) {
      const T* image = px + plane * H * W;
      int64_t best = -1;
      for (int64_t i = h.begin; i < h.end; i += h.step) {
        for (int64_t j = w.begin; j < w.end; j += w.step) {
          const T v = image[i * W + j];
          if (best < 0 || v > image[best] || (std::isnan(v) && !std::isnan(image[best]))) {
            best = i * W + j;
          }
        }
      }
      // A dilated window may fall on padding alone.
      py[iy] = best < 0 ? -std::numeric_limits<T>::infinity() : image[best];
      if (pi) pi[iy] = static_cast<int32_t>(std::max<int64_t>(best, 0));
    });
  });
}

// dx [N,C,H,W], dy, index [N,C,P,Q]
void max_pool_grad(Tensor& dx, const Tensor& dy, const Tensor& index, const PoolParams&) {
  count_run();
  const int64_t in = dx.size(2) * dx.size(3), out = dy.size(2) * dy.size(3);
  const int32_t* pi = index.data_ptr<int32_t>();
  for (int64_t i = 0; i < index.numel(); ++i) {
    if (pi[i] >= 0 && pi[i] < in) continue;
    throw IndexError(
        fmt::format("max_pool_grad: expected an index in [0, {}), got {}", in, pi[i]));
  }
  visit(dx.dtype(), [&]<class T>() {
    const T* pdy = dy.data_ptr<T>();
    std::vector<double> total(static_cast<size_t>(dx.numel()));
    for (int64_t i = 0; i < dy.numel(); ++i) {
      total[static_cast<size_t>(i / out * in + pi[i])] += static_cast<double>(pdy[i]);
    }
    store<T>(dx, total);
  });
}

// y [N,C,P,Q], x [N,C,H,W]
void avg_pool(Tensor& y, const Tensor& x, const PoolParams& p) {
  count_run();
  const int64_t H = x.size(2), W = x.size(3);
  visit(y.dtype(), [&]<class T>() {
    T* py = y.data_ptr<T>();
    const T* px = x.data_ptr<T>();
    for_each_window(y, x, p, [&](int64_t iy, int64_t plane, Range h, Range w) {
      double total = 0;
      for (int64_t i = h.begin; i < h.end; ++i) {
        for (int64_t j = w.begin; j < w.end; ++j) {
          total += static_cast<double>(px[(plane * H + i) * W + j]);
        }
      }
      py[iy] = static_cast<T>(total / divisor(h, w, p));
    });
  });
}

// dx [N,C,H,W], dy [N,C,P,Q]
void avg_pool_grad(Tensor& dx, const Tensor& dy, const PoolParams& p) {
  count_run();
  const int64_t H = dx.size(2), W = dx.size(3);
  visit(dx.dtype(), [&]<class T>() {
    const T* pdy = dy.data_ptr<T>();
    std::vector<double> total(static_cast<size_t>(dx.numel()));
    for_each_window(dy, dx, p, [&](int64_t iy, int64_t plane, Range h, Range w) {
      const double share = static_cast<double>(pdy[iy]) / divisor(h, w, p);
      for (int64_t i = h.begin; i < h.end; ++i) {
        for (int64_t j = w.begin; j < w.end; ++j) {
          total[static_cast<size_t>((plane * H + i) * W + j)] += share;
        }
      }
    });
    store<T>(dx, total);
  });
}

}  // namespace ambit::reference
