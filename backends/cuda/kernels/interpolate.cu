// Resizing images in one to three spatial dims, and its gradient. Each thread computes one element:
// of y from its taps, of dx from the elements of y that use it as a tap, which are adjacent along
// each dim. Sums thus have a fixed order. All operands are contiguous.
#include <ambit/backend/interpolation.h>

#include "backends/cuda/kernels.h"
#include "backends/cuda/loops/element16.cuh"
#include "backends/cuda/runtime/launch.h"

namespace ambit::cuda {
namespace {

using interpolation::Axis;
using interpolation::kMostTaps;
using interpolation::Tap;

/// The spatial dims of x [N,C,in...] and y [N,C,out...]; missing leading ones are the identity.
struct Axes {
  Axes(const Tensor& x, const Tensor& y, const InterpolateParams& p) {
    Axis* const all[] = {&d, &h, &w};
    const auto dims = static_cast<size_t>(x.dim()) - 2;
    for (size_t k = 0; k < dims; ++k) {
      *all[3 - dims + k] =
          Axis(p, k, x.sizes()[2 + k], y.sizes()[2 + k], x.dtype() == DType::float64);
    }
  }
  Axis d, h, w;
};

/// The taps of one element along one dim.
struct Taps {
  __device__ Taps(const Axis& axis, int64_t i) : count(axis.count()) { axis.taps(i, tap); }
  int count;
  Tap tap[kMostTaps];
};

template <class T>
__global__ void mix_taps(int64_t n, Axes axes, T* y, const T* x) {
  const int64_t D = axes.d.in(), H = axes.h.in(), W = axes.w.in();
  for (int64_t at = thread_index(); at < n; at += thread_count()) {
    const int64_t line = at / axes.w.out(), plane = line / axes.h.out();
    const T* image = x + plane / axes.d.out() * D * H * W;
    const Taps d(axes.d, plane % axes.d.out()), h(axes.h, line % axes.h.out()),
        w(axes.w, at % axes.w.out());
    double sum = -0.0;  // -0 is the neutral element: -0 + -0 is -0
    for (int i = 0; i < d.count; ++i) {
      for (int j = 0; j < h.count; ++j) {
        const T* row = image + (d.tap[i].index * H + h.tap[j].index) * W;
        const double weight = d.tap[i].weight * h.tap[j].weight;
        for (int k = 0; k < w.count; ++k) {
          sum += weight * w.tap[k].weight * static_cast<double>(upcast(row[w.tap[k].index]));
        }
      }
    }
    y[at] = downcast<T>(sum);
  }
}

/// The elements of y that use element `i` of x as a tap along one dim: [begin, end).
struct Users {
  // Tap indices increase with the elements of y, so binary search finds the first and the last one.
  __device__ Users(const Axis& axis, int64_t i) {
    begin = first_where(axis, [&](int64_t j) { return axis.last(j) >= i; });
    end = first_where(axis, [&](int64_t j) { return axis.first(j) > i; });
  }
  template <class F>
  __device__ static int64_t first_where(const Axis& axis, const F& reached) {
    int64_t low = 0, high = axis.out();
    while (low < high) {
      const int64_t middle = low + (high - low) / 2;
      if (reached(middle)) {
        high = middle;
      } else {
        low = middle + 1;
      }
    }
    return low;
  }
  int64_t begin, end;
};

/// Return the weight of element i of x in element j of y.
__device__ double weight_of(const Axis& axis, int64_t i, int64_t j) {
  const Taps taps(axis, j);
  double sum = 0;
  for (int k = 0; k < taps.count; ++k) sum += taps.tap[k].index == i ? taps.tap[k].weight : 0;
  return sum;
}

template <class T>
__global__ void sum_users(int64_t n, Axes axes, T* dx, const T* dy) {
  const int64_t O = axes.d.out(), P = axes.h.out(), Q = axes.w.out();
  for (int64_t at = thread_index(); at < n; at += thread_count()) {
    const int64_t line = at / axes.w.in(), plane = line / axes.h.in();
    const int64_t column = at % axes.w.in(), row = line % axes.h.in(), depth = plane % axes.d.in();
    const T* image = dy + plane / axes.d.in() * O * P * Q;
    const Users d(axes.d, depth), h(axes.h, row), w(axes.w, column);
    double sum = 0;
    for (int64_t i = d.begin; i < d.end; ++i) {
      const double of_depth = weight_of(axes.d, depth, i);
      for (int64_t j = h.begin; j < h.end; ++j) {
        const double of_row = of_depth * weight_of(axes.h, row, j);
        const T* from = image + (i * P + j) * Q;
        for (int64_t k = w.begin; k < w.end; ++k) {
          sum += of_row * weight_of(axes.w, column, k) * static_cast<double>(upcast(from[k]));
        }
      }
    }
    dx[at] = downcast<T>(sum);
  }
}

}  // namespace

// y [N,C,out...], x [N,C,in...]
void interpolate(Tensor& y, const Tensor& x, const InterpolateParams& p) {
  const int64_t n = y.numel();
  if (n == 0) return;
  visit<dtypes::kAnyFloating>(y.dtype(), [&]<class T>() {
    launch(mix_taps<T>, grid_for(n), n, Axes(x, y, p), y.data_ptr<T>(), x.data_ptr<T>());
  });
}

// dx [N,C,in...], dy [N,C,out...]
void interpolate_grad(Tensor& dx, const Tensor& dy, const InterpolateParams& p) {
  const int64_t n = dx.numel();
  if (n == 0) return;
  visit<dtypes::kAnyFloating>(dx.dtype(), [&]<class T>() {
    launch(sum_users<T>, grid_for(n), n, Axes(dx, dy, p), dx.data_ptr<T>(), dy.data_ptr<T>());
  });
}

}  // namespace ambit::cuda
