// Pooling in channels-last layout: the loops over windows, and max pooling. Average pooling is for
// float32 only, max pooling also for bfloat16.
#pragma once

#include <vector>

#include "max_window.h"
#include "pool_windows.h"

namespace ambit::cpu {

/// Call f(image, window, taps, span along h, index along w) for each window of images [begin, end);
/// `window` counts over all images.
template <class F>
void for_windows(const PoolImages& s, int64_t begin, int64_t end, const F& f) {
  std::vector<int32_t> taps(static_cast<size_t>(s.window()));
  int64_t window = begin * s.out();
  for (int64_t n = begin; n < end; ++n) {
    for (int64_t i = 0; i < s.h.out; ++i) {
      const Span h(i, s.h);
      for (int64_t j = 0; j < s.w.out; ++j, ++window) {
        const Span w(j, s.w);
        size_t count = 0;
        for (int64_t r = h.begin; r < h.end; ++r) {
          for (int64_t c = w.begin; c < w.end; ++c) {
            taps[count++] = static_cast<int32_t>(r * s.w.in + c);
          }
        }
        f(n, window, Taps(taps.data(), count), h, j);
      }
    }
  }
}

template <class F>
void for_images(const PoolImages& s, const F& f) {
  parallel_for(s.N, grain_for(s.C * s.out() * s.window()), f);
}

/// Return true if every element of x is in exactly one window.
bool windows_partition_input(const PoolImages& s);
/// Return true if the windows are not dilated: these kernels need an element in each window, and a
/// dilated window may cover only padding.
bool suits_channels_last(const PoolImages& s);

/// The dtypes of max pooling in channels-last layout.
constexpr DTypeSet kMaxPoolDTypes{kFloat32, kBFloat16};

/// Return true if no two windows share an element, by their strides; false for adaptive windows.
bool windows_are_disjoint(const PoolImages& s);

/// Check positions for the gradient. Errors: IndexError for a position outside of [0, bound).
void check_positions(int64_t n, const int32_t* index, int64_t bound);

// T is float or BFloat16.

/// y, index [N,P,Q,C], x [N,H,W,C], contiguous; index may be null.
template <class T>
void max_pool_channels_last(const PoolImages& s, T* y, int32_t* index, const T* x);
/// dx [N,H,W,C]; dy, index [N,P,Q,C]. An index is a position in the image's plane, r * W + c.
/// BFloat16 requires windows_are_disjoint(s).
template <class T>
void max_pool_grad_channels_last(const PoolImages& s, T* dx, const T* dy, const int32_t* index);

}  // namespace ambit::cpu
