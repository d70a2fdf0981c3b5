#include "winograd_sizes.h"

#include <algorithm>

#include "backends/cpu/runtime/parallel.h"
#include "conv_winograd.h"

namespace ambit::cpu {

WinogradSizes WinogradSizes::of(const ConvSizes& g) {
  constexpr std::array<int64_t, 3> kOnes{1, 1, 1}, kTwos{1, 2, 2};
  WinogradSizes split(g);
  const int64_t least = std::min(g.R, g.S), most = std::max(g.R, g.S);
  const bool moves_by_two = g.dims == 2 && g.groups == 1 && g.stride == kTwos &&
                            g.dilation == kOnes && g.C % 16 == 0 && least >= 4 && most <= 6;
  if (!moves_by_two) return split;
  split.x_split = 2;
  split.height = g.H;
  split.width = g.W;
  split.channels = g.C;
  split.window = {g.R, g.S};
  // Tap r of the window at p reads pixel 2 p + r - padding: tap r / 2 of split image r % 2.
  split.before_top = g.padding[1] % 2;
  split.before_left = g.padding[2] % 2;
  split.padding[1] /= 2;
  split.padding[2] /= 2;
  split.C = split.Cg = 4 * g.C;
  split.H = ceil_div(g.H + split.before_top, 2);
  split.W = ceil_div(g.W + split.before_left, 2);
  split.R = split.S = std::max(ceil_div(most, 2), least_winograd_side());
  split.stride = kOnes;
  return split;
}

std::optional<WinogradSizes> WinogradSizes::as_forward_conv() const {
  const std::optional<ConvSizes> sizes = ConvSizes::as_forward_conv();
  if (!sizes) return std::nullopt;
  WinogradSizes forward = *this;
  static_cast<ConvSizes&>(forward) = *sizes;
  std::swap(forward.x_split, forward.y_split);
  return forward;
}

template <class F>
void WinogradSizes::for_weights(const F& f) const {
  const int64_t rows = window[0], columns = window[1];
  parallel_for(K, grain_for(channels * rows * columns), [&](int64_t begin, int64_t end) {
    int64_t i = begin * channels * rows * columns;
    for (int64_t filter = begin * channels; filter < end * channels; ++filter) {
      const int64_t k = filter / channels, j = k * C + filter % channels;
      for (int64_t r = 0; r < rows; ++r) {
        for (int64_t s = 0; s < columns; ++s, ++i) {
          const int64_t image = r % 2 * 2 + s % 2, tap = r / 2 * S + s / 2;
          f(i, (j + image * channels) * R * S + tap);
        }
      }
    }
  });
}

void WinogradSizes::split_weights(float* to, const float* w) const {
  std::fill_n(to, K * C * R * S, 0.f);
  for_weights([&](int64_t i, int64_t j) { to[j] = w[i]; });
}
void WinogradSizes::unite_weights(float* dw, const float* from) const {
  for_weights([&](int64_t i, int64_t j) { dw[i] = from[j]; });
}

WinogradWeights::WinogradWeights(const WinogradSizes& g, const float* w)
    : scratch_(g.x_split == 1 ? 0 : static_cast<size_t>(g.K * g.taps()) * sizeof(float)), data_(w) {
  if (g.x_split == 1) return;
  g.split_weights(scratch_.data<float>(), w);
  data_ = scratch_.data<float>();
}

}  // namespace ambit::cpu
