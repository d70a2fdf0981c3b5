// Pooling of images that lie channels-last, float32 and for maxima bfloat16: the loops over
// windows, and max pooling.
#pragma once

#include <vector>

#include "max_window.h"
#include "pool_windows.h"

namespace ambit::cpu {

/// Call f(image, window, taps, what it covers of h, its number along w) for each window of images
/// [begin, end), windows counted over all.
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

/// Whether the windows lie side by side and cover every element of x.
bool tile(const PoolImages& s);
/// Whether every window has an element: a dilated one may fall on padding alone.
bool suits_channels_last(const PoolImages& s);

/// The dtypes of elements that are pooled where they lie.
constexpr DTypeSet kNativeElements{kFloat32, kBFloat16};

/// Whether no element is in two windows.
bool each_in_one(const PoolImages& s);

/// Of the gradient. Errors: IndexError, for a position outside of [0, bound).
void check_positions(int64_t n, const int32_t* index, int64_t bound);

// T: float, or BFloat16.

/// y, index [N,P,Q,C], x [N,H,W,C] as they lie; index may be null.
template <class T>
void max_pool_channels_last(const PoolImages& s, T* y, int32_t* index, const T* x);
/// dx [N,H,W,C], dy, index [N,P,Q,C], each inside of its plane. Of BFloat16 only where each_in_one.
template <class T>
void max_pool_grad_channels_last(const PoolImages& s, T* dx, const T* dy, const int32_t* index);

}  // namespace ambit::cpu
