// Maximum and average pooling in one to three spatial dims, and their gradients. All tensors are
// contiguous.
#include <ambit/backend/reference.h>
#include <ambit/error.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <vector>

#include "accumulator.h"
#include "runs.h"

namespace ambit::reference {
namespace {

// The elements of a window along one dim: begin, begin + step, ... before end. `extent` includes
// padding within the padded input.
struct Range {
  int64_t begin = 0, end = 1, step = 1, extent = 1;
};
using Box = std::array<Range, 3>;  // along d, h, w; {0} for a missing dim

Range range(int64_t i, int64_t in, int64_t out, const PoolParams& p, size_t d) {
  if (p.adaptive) {
    const int64_t begin = i * in / out, end = ((i + 1) * in + out - 1) / out;
    return {begin, end, 1, end - begin};
  }
  const int64_t step = p.dilation[d];
  int64_t begin = i * p.stride[d] - p.padding[d];
  const int64_t end = begin + step * (p.kernel[d] - 1) + 1;
  const int64_t extent = std::min(end, in + p.padding[d]) - begin;
  while (begin < 0) begin += step;
  return {begin, std::max(begin, std::min(end, in)), step, extent};
}

// The windows of y [N,C,out...] over x [N,C,in...].
struct Windows {
  Windows(const Tensor& y, const Tensor& x, const PoolParams& params) : p(params) {
    images = y.size(0) * y.size(1);
    const auto dims = static_cast<size_t>(x.dim()) - 2;
    missing = 3 - dims;
    for (size_t d = 0; d < dims; ++d) {
      in[missing + d] = x.sizes()[2 + d];
      out[missing + d] = y.sizes()[2 + d];
    }
  }
  Range along(size_t axis, int64_t i) const {
    return axis < missing ? Range() : range(i, in[axis], out[axis], p, axis - missing);
  }
  // Call f(iy, image, box) for each window; iy is the index in y, image the index in N and C.
  template <class F>
  void for_each(F f) const {
    int64_t iy = 0;
    for (int64_t image = 0; image < images; ++image) {
      for (int64_t o = 0; o < out[0]; ++o) {
        for (int64_t i = 0; i < out[1]; ++i) {
          for (int64_t j = 0; j < out[2]; ++j) {
            f(iy++, image, Box{along(0, o), along(1, i), along(2, j)});
          }
        }
      }
    }
  }
  // Call f(position in its image) for each element of a window, in row-major order.
  template <class F>
  void for_each_place(const Box& box, F f) const {
    for (int64_t d = box[0].begin; d < box[0].end; d += box[0].step) {
      for (int64_t h = box[1].begin; h < box[1].end; h += box[1].step) {
        for (int64_t w = box[2].begin; w < box[2].end; w += box[2].step) {
          f((d * in[1] + h) * in[2] + w);
        }
      }
    }
  }
  int64_t image_size() const { return in[0] * in[1] * in[2]; }
  // Return the divisor of a sum; 1 for a window of padding only, whose mean is 0.
  double divisor(const Box& box) const {
    if (p.divisor != 0) return static_cast<double>(p.divisor);
    int64_t n = 1;
    for (const Range& r : box) n *= p.count_include_pad ? r.extent : r.end - r.begin;
    return static_cast<double>(std::max<int64_t>(n, 1));
  }

  const PoolParams& p;
  int64_t images;
  size_t missing;
  std::array<int64_t, 3> in{1, 1, 1}, out{1, 1, 1};
};

}  // namespace

// y, index [N,C,out...] or undefined, x [N,C,in...]
void max_pool(Tensor& y, Tensor& index, const Tensor& x, const PoolParams& p) {
  count_run();
  int32_t* pi = index.defined() ? index.data_ptr<int32_t>() : nullptr;
  const Windows windows(y, x, p);
  visit(y.dtype(), [&]<class T>() {
    T* py = y.data_ptr<T>();
    const T* px = x.data_ptr<T>();
    windows.for_each([&](int64_t iy, int64_t image, const Box& box) {
      const T* from = px + image * windows.image_size();
      int64_t best = -1;
      windows.for_each_place(box, [&](int64_t at) {
        if (best < 0 || from[at] > from[best] || std::isnan(from[at])) best = at;
      });
      py[iy] = from[best];
      if (pi) pi[iy] = static_cast<int32_t>(best);
    });
  });
}

// dx [N,C,in...], dy, index [N,C,out...]
void max_pool_grad(Tensor& dx, const Tensor& dy, const Tensor& index, const PoolParams& p) {
  count_run();
  const Windows windows(dy, dx, p);
  const int64_t in = windows.image_size();
  const int32_t* pi = index.data_ptr<int32_t>();
  for (int64_t i = 0; i < index.numel(); ++i) {
    if (pi[i] >= 0 && pi[i] < in) continue;
    throw IndexError(fmt::format("max_pool_grad: expected an index in [0, {}), got {}", in, pi[i]));
  }
  const int64_t out = dy.numel() / std::max<int64_t>(windows.images, 1);
  visit(dx.dtype(), [&]<class T>() {
    const T* pdy = dy.data_ptr<T>();
    std::vector<double> total(static_cast<size_t>(dx.numel()));
    for (int64_t i = 0; i < dy.numel(); ++i) {
      total[static_cast<size_t>(i / out * in + pi[i])] += static_cast<double>(pdy[i]);
    }
    store<T>(dx, total);
  });
}

// y [N,C,out...], x [N,C,in...]
void avg_pool(Tensor& y, const Tensor& x, const PoolParams& p) {
  count_run();
  const Windows windows(y, x, p);
  visit(y.dtype(), [&]<class T>() {
    T* py = y.data_ptr<T>();
    const T* px = x.data_ptr<T>();
    windows.for_each([&](int64_t iy, int64_t image, const Box& box) {
      const T* from = px + image * windows.image_size();
      double total = 0;
      windows.for_each_place(box, [&](int64_t at) { total += static_cast<double>(from[at]); });
      py[iy] = static_cast<T>(total / windows.divisor(box));
    });
  });
}

// dx [N,C,in...], dy [N,C,out...]
void avg_pool_grad(Tensor& dx, const Tensor& dy, const PoolParams& p) {
  count_run();
  const Windows windows(dy, dx, p);
  visit(dx.dtype(), [&]<class T>() {
    const T* pdy = dy.data_ptr<T>();
    std::vector<double> total(static_cast<size_t>(dx.numel()));
    windows.for_each([&](int64_t iy, int64_t image, const Box& box) {
      const double share = static_cast<double>(pdy[iy]) / windows.divisor(box);
      const int64_t base = image * windows.image_size();
      windows.for_each_place(box,
                             [&](int64_t at) { total[static_cast<size_t>(base + at)] += share; });
    });
    store<T>(dx, total);
  });
}

}  // namespace ambit::reference
