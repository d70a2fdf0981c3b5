#include "pool_channels_last.h"

#include <vector>

#include "max_window.h"

namespace ambit::cpu {
namespace {

/// Call f(image, window, taps) for each window of images [begin, end), windows counted over all.
template <class F>
void for_windows(const Planes& s, const PoolParams& p, int64_t begin, int64_t end, const F& f) {
  std::vector<int32_t> taps(static_cast<size_t>(p.kernel[0] * p.kernel[1]));
  int64_t window = begin * s.P * s.Q;
  for (int64_t n = begin; n < end; ++n) {
    for (int64_t i = 0; i < s.P; ++i) {
      const Span h(i, s.H, p, 0);
      for (int64_t j = 0; j < s.Q; ++j, ++window) {
        const Span w(j, s.W, p, 1);
        size_t count = 0;
        for (int64_t r = h.begin; r < h.end; r += h.step) {
          for (int64_t c = w.begin; c < w.end; c += w.step) {
            taps[count++] = static_cast<int32_t>(r * s.W + c);
          }
        }
        f(n, window, Taps(taps.data(), count));
      }
    }
  }
}

template <class F>
void for_images(const Planes& s, const PoolParams& p, const F& f) {
  parallel_for(s.N, grain_for(s.C * s.P * s.Q * p.kernel[0] * p.kernel[1]), f);
}

bool overlap(const PoolParams& p) {
  return p.stride[0] < p.kernel[0] || p.stride[1] < p.kernel[1];
}

/// Whether the windows lie side by side and cover every element of x.
bool tile(const Planes& s, const PoolParams& p) {
  return p.stride[0] * s.P == s.H && p.stride[1] * s.Q == s.W && p.kernel[0] == p.stride[0] &&
         p.kernel[1] == p.stride[1] && p.padding[0] == 0 && p.padding[1] == 0;
}

}  // namespace

bool suits_channels_last(const PoolParams& p) { return p.dilation[0] == 1 && p.dilation[1] == 1; }

void max_pool_channels_last(const Planes& s, float* y, int32_t* index, const float* x,
                              const PoolParams& p) {
  const MaxWindow max = max_window();
  for_images(s, p, [&](int64_t begin, int64_t end) {
    std::vector<int32_t> unasked(index ? 0 : static_cast<size_t>(s.C));
    for_windows(s, p, begin, end, [&](int64_t n, int64_t window, Taps taps) {
      max(s.C, y + window * s.C, index ? index + window * s.C : unasked.data(),
          x + n * s.H * s.W * s.C, taps);
    });
  });
}

void max_pool_grad_channels_last(const Planes& s, float* dx, const float* dy,
                                   const int32_t* index, const PoolParams& p) {
  const int64_t image = s.H * s.W * s.C;
  const bool each_once = !overlap(p), all = tile(s, p);
  const MaxWindowGrad spread = max_window_grad();
  for_images(s, p, [&](int64_t begin, int64_t end) {
    if (!all) std::fill(dx + begin * image, dx + end * image, 0.0f);
    for_windows(s, p, begin, end, [&](int64_t n, int64_t window, Taps taps) {
      const float* from = dy + window * s.C;
      const int32_t* at = index + window * s.C;
      float* to = dx + n * image;
      if (each_once) return spread(s.C, to, from, at, taps);
      for (int64_t c = 0; c < s.C; ++c) to[at[c] * s.C + c] += from[c];
    });
  });
}

}  // namespace ambit::cpu
