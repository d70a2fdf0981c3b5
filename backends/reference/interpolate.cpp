// Resizing images in one to three spatial dims, and its gradient: x [N,C,in...], y [N,C,out...],
// contiguous.
#include <ambit/backend/interpolation.h>
#include <ambit/backend/reference.h>

#include <array>
#include <vector>

#include "accumulator.h"
#include "runs.h"

namespace ambit::reference {
namespace {

using interpolation::Axis;
using interpolation::Tap;

/// Return the three axes of a call; missing leading ones are the identity.
std::array<Axis, 3> axes_of(const Tensor& x, const Tensor& y, const InterpolateParams& p) {
  std::array<Axis, 3> axes;
  const auto dims = static_cast<size_t>(x.dim()) - 2;
  for (size_t d = 0; d < dims; ++d) {
    axes[3 - dims + d] =
        Axis(p, d, x.sizes()[2 + d], y.sizes()[2 + d], x.dtype() == DType::float64);
  }
  return axes;
}

/// Call f(position in y, position in x, weight) for every tap of every element of y [N,C,...].
template <class F>
void for_taps(const Tensor& x, const Tensor& y, const InterpolateParams& p, const F& f) {
  const std::array<Axis, 3> a = axes_of(x, y, p);
  const int64_t in = a[0].in() * a[1].in() * a[2].in();
  int64_t iy = 0;
  for (int64_t image = 0; image < x.size(0) * x.size(1); ++image) {
    for (int64_t d = 0; d < a[0].out(); ++d) {
      for (int64_t h = 0; h < a[1].out(); ++h) {
        for (int64_t w = 0; w < a[2].out(); ++w, ++iy) {
          Tap of_d[interpolation::kMostTaps], of_h[interpolation::kMostTaps],
              of_w[interpolation::kMostTaps];
          a[0].taps(d, of_d), a[1].taps(h, of_h), a[2].taps(w, of_w);
          for (int i = 0; i < a[0].count(); ++i) {
            for (int j = 0; j < a[1].count(); ++j) {
              for (int k = 0; k < a[2].count(); ++k) {
                const int64_t row = of_d[i].index * a[1].in() + of_h[j].index;
                f(iy, image * in + row * a[2].in() + of_w[k].index,
                  of_d[i].weight * of_h[j].weight * of_w[k].weight);
              }
            }
          }
        }
      }
    }
  }
}

}  // namespace

void interpolate(Tensor& y, const Tensor& x, const InterpolateParams& p) {
  count_run();
  visit<dtypes::kFloating>(y.dtype(), [&]<class T>() {
    std::vector<double> sums(static_cast<size_t>(y.numel()), -0.);  // neutral also for -0
    const T* px = x.data_ptr<T>();
    for_taps(x, y, p, [&](int64_t to, int64_t from, double weight) {
      sums[static_cast<size_t>(to)] += weight * static_cast<double>(px[from]);
    });
    store<T>(y, sums);
  });
}

void interpolate_grad(Tensor& dx, const Tensor& dy, const InterpolateParams& p) {
  count_run();
  visit<dtypes::kFloating>(dx.dtype(), [&]<class T>() {
    std::vector<double> sums(static_cast<size_t>(dx.numel()));
    const T* pdy = dy.data_ptr<T>();
    for_taps(dx, dy, p, [&](int64_t from, int64_t to, double weight) {
      sums[static_cast<size_t>(to)] += weight * static_cast<double>(pdy[from]);
    });
    store<T>(dx, sums);
  });
}

}  // namespace ambit::reference
