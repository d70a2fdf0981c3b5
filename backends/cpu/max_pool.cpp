// 2-D maximum pooling, a row of windows at a time, so that vectors hold windows side by side.
// Written out for both dtypes: oneDNN gives positions inside the window, not inside the plane.
#include "simd_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "max_pool.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>
#include <limits>
#include <vector>

#include "channels_last.h"
#include "kernels.h"
#include "parallel.h"
#include "pool_channels_last.h"
#include "pool_windows.h"

HWY_BEFORE_NAMESPACE();
namespace ambit::cpu::HWY_NAMESPACE {
namespace {

/// Whether b takes the place of a: only what is larger, and the first NaN for good.
template <class T>
bool beats(T b, T a) {
  return (b > a) | ((b != b) & (a == a));
}

/// The windows [begin, end) of n along an axis of `size` whose k-th element is inside; it is at
/// window * stride + offset.
struct Inside {
  Inside(int64_t k, int64_t n, int64_t size, const Pool2dParams& p, size_t axis)
      : offset(k * p.dilation[axis] - p.padding[axis]) {
    const int64_t stride = p.stride[axis];
    begin = offset >= 0 ? 0 : std::min(n, (-offset + stride - 1) / stride);
    end = std::clamp(offset >= size ? 0 : (size - 1 - offset) / stride + 1, begin, n);
  }
  int64_t offset, begin, end;
};

/// value, position = where x[j * stride] at start + j * stride beats them. kStride: 0 if any.
template <int64_t kStride, class T>
void meet(int64_t n, T* value, int32_t* position, const T* x, int64_t start, int64_t any_stride) {
  const int64_t stride = kStride ? kStride : any_stride;
#pragma omp simd
  for (int64_t j = 0; j < n; ++j) {
    const T v = x[j * stride];
    const bool better = beats(v, value[j]);
    value[j] = better ? v : value[j];
    position[j] = better ? static_cast<int32_t>(start + j * stride) : position[j];
  }
}

/// Begin the windows of a row, whose upper edge is row h of x: with their first elements, or where
/// some begin in padding with -inf at the position of the first element inside. A dilated window
/// may fall on padding alone; its position is 0.
template <int64_t kStride, class T>
void begin_row(int64_t h, const T* x, T* y, int32_t* index, const Planes& s,
               const Pool2dParams& p) {
  const int64_t stride = kStride ? kStride : p.stride[1];
  const Inside first(0, s.Q, s.W, p, 1);
  if (first.begin == 0 && first.end == s.Q) {
    const int64_t start = h * s.W + first.offset;
#pragma omp simd
    for (int64_t j = 0; j < s.Q; ++j) {
      y[j] = x[start + j * stride];
      index[j] = static_cast<int32_t>(start + j * stride);
    }
    return;
  }
  std::fill_n(y, s.Q, -std::numeric_limits<T>::infinity());
  std::fill_n(index, s.Q, 0);
  for (int64_t k = p.kernel[1]; k-- > 0;) {
    const Inside in(k, s.Q, s.W, p, 1);
    for (int64_t j = in.begin; j < in.end; ++j) {
      index[j] = static_cast<int32_t>(h * s.W + j * stride + in.offset);
    }
  }
}

/// Row i of y: all its windows meet their first elements, then their second, and so on.
template <int64_t kStride, class T>
void max_row(int64_t i, const T* x, T* y, int32_t* index, const Planes& s, const Pool2dParams& p) {
  const int64_t top = i * p.stride[0] - p.padding[0], dilation = p.dilation[0];
  const int64_t first = top >= 0 ? 0 : (-top + dilation - 1) / dilation;
  const int64_t past = top >= s.H ? 0 : std::min(p.kernel[0], (s.H - 1 - top) / dilation + 1);
  if (first >= past) {
    std::fill_n(y, s.Q, -std::numeric_limits<T>::infinity());
    std::fill_n(index, s.Q, 0);
    return;
  }
  begin_row<kStride>(top + first * dilation, x, y, index, s, p);
  for (int64_t r = first; r < past; ++r) {
    const int64_t row = (top + r * dilation) * s.W;
    for (int64_t k = 0; k < p.kernel[1]; ++k) {
      const Inside in(k, s.Q, s.W, p, 1);
      const int64_t start = row + in.begin * p.stride[1] + in.offset;
      meet<kStride>(in.end - in.begin, y + in.begin, index + in.begin, x + start, start,
                    p.stride[1]);
    }
  }
}

template <class T>
void run(const Tensor& y, const Tensor& index, const Tensor& x, const Pool2dParams& p) {
  const Planes s(x, y);
  const auto row = p.stride[1] == 1   ? max_row<1, T>
                   : p.stride[1] == 2 ? max_row<2, T>
                                      : max_row<0, T>;
  T* py = y.data_ptr<T>();
  int32_t* positions = index.defined() ? index.data_ptr<int32_t>() : nullptr;
  const T* px = x.data_ptr<T>();
  parallel_for(s.count(), s.grain(p), [&](int64_t begin, int64_t end) {
    std::vector<int32_t> unasked(positions ? 0 : static_cast<size_t>(s.Q));
    for (int64_t r = begin * s.P; r < end * s.P; ++r) {
      row(r % s.P, px + r / s.P * s.H * s.W, py + r * s.Q,
          positions ? positions + r * s.Q : unasked.data(), s, p);
    }
  });
}

void max_pool2d_any(const Tensor& y, const Tensor& index, const Tensor& x, const Pool2dParams& p) {
  if (y.dtype() == kFloat32) return run<float>(y, index, x, p);
  run<double>(y, index, x, p);
}

}  // namespace
}  // namespace ambit::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ambit::cpu {

HWY_EXPORT(max_pool2d_any);

// y, index [N,C,P,Q] or undefined, x [N,C,H,W]
void max_pool2d(Tensor& y, Tensor& index, const Tensor& x, const Pool2dParams& p) {
  const Planes s(x, y);
  if (is_channels_last(x) && suits_channels_last(p)) {
    const Tensor out = laid_out_for_writing(y);
    const Tensor at = index.defined() ? laid_out_for_writing(index) : Tensor();
    if (has_channels_last_strides(out) && (!at.defined() || has_channels_last_strides(at))) {
      InputsAsTheyLie in({&x});
      return max_pool2d_channels_last(s, out.data_ptr<float>(),
                                      at.defined() ? at.data_ptr<int32_t>() : nullptr,
                                      in.channels_last(0).data_ptr<float>(), p);
    }
  }
  HWY_DYNAMIC_DISPATCH(max_pool2d_any)(y, index, x, p);
}

}  // namespace ambit::cpu
#endif
