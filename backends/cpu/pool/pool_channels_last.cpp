#include "pool_channels_last.h"

#include <ambit/error.h>
#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "max_window.h"

namespace ambit::cpu {

bool windows_are_disjoint(const PoolImages& s) {
  return s.h.stride >= s.h.kernel && s.w.stride >= s.w.kernel;
}

bool windows_partition_input(const PoolImages& s) {
  const auto tiles = [](const PoolAxis& a) {
    return a.stride == a.kernel && a.dilation == 1 && a.padding == 0 && a.out * a.stride == a.in;
  };
  return tiles(s.d) && tiles(s.h) && tiles(s.w);
}

bool suits_channels_last(const PoolImages& s) { return s.h.dilation == 1 && s.w.dilation == 1; }

void check_positions(int64_t n, const int32_t* index, int64_t bound) {
  if (n == 0 || largest_position(n, index) < bound) return;
  const int32_t* const at =
      std::find_if(index, index + n, [&](int32_t i) { return i < 0 || i >= bound; });
  throw IndexError(fmt::format("max_pool_grad: expected an index in [0, {}), got {}", bound, *at));
}

template <class T>
void max_pool_channels_last(const PoolImages& s, T* y, int32_t* index, const T* x) {
  const MaxWindow<T> max = max_window<T>();
  for_images(s, [&](int64_t begin, int64_t end) {
    std::vector<int32_t> unasked(index ? 0 : static_cast<size_t>(s.C));
    for_windows(s, begin, end, [&](int64_t n, int64_t window, Taps taps, const Span&, int64_t) {
      max(s.C, y + window * s.C, index ? index + window * s.C : unasked.data(),
          x + n * s.in() * s.C, taps);
    });
  });
}

template <class T>
void max_pool_grad_channels_last(const PoolImages& s, T* dx, const T* dy, const int32_t* index) {
  const int64_t image = s.in() * s.C;
  const bool disjoint = windows_are_disjoint(s), partition = windows_partition_input(s);
  const MaxWindowGrad<T> spread = max_window_grad<T>();
  const auto spread_image = [&](int64_t n) {
    check_positions(s.out() * s.C, index + n * s.out() * s.C, s.in());
    T* const to = dx + n * image;
    if (!partition) std::fill_n(to, image, T(0));
    for_windows(s, n, n + 1, [&](int64_t, int64_t window, Taps taps, const Span&, int64_t) {
      const T* from = dy + window * s.C;
      const int32_t* at = index + window * s.C;
      if (disjoint) return spread(s.C, to, from, at, taps);
      for (int64_t c = 0; c < s.C; ++c) to[at[c] * s.C + c] += from[c];
    });
  };
  for_images(s, [&](int64_t begin, int64_t end) {
    for (int64_t n = begin; n < end; ++n) spread_image(n);
  });
}

template void max_pool_channels_last(const PoolImages&, float*, int32_t*, const float*);
template void max_pool_channels_last(const PoolImages&, BFloat16*, int32_t*, const BFloat16*);
template void max_pool_grad_channels_last(const PoolImages&, float*, const float*, const int32_t*);
template void max_pool_grad_channels_last(const PoolImages&, BFloat16*, const BFloat16*,
                                          const int32_t*);

}  // namespace ambit::cpu
