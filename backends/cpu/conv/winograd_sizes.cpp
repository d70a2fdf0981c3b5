#include "winograd_sizes.h"

#include <algorithm>

#include "backends/cpu/runtime/parallel.h"

namespace ambit::cpu {
namespace {

// Of the windows that four images meet.
constexpr int64_t kSide = 3, kWindow = kSide * kSide;

/// By how many positions of such a window pixel i of one that moves by two is behind where that
/// starts; odd ones are in the second image.
int64_t half(int64_t i) { return i >> 1; }

}  // namespace

WinogradSizes WinogradSizes::of(const ConvSizes& g) {
  constexpr std::array<int64_t, 3> kOnes{1, 1, 1}, kTwos{1, 2, 2};
  WinogradSizes split(g);
  const bool moves_by_two = g.dims == 2 && g.groups == 1 && g.stride == kTwos &&
                            g.dilation == kOnes && g.C % 16 == 0 && std::min(g.R, g.S) >= 4;
  if (!moves_by_two) return split;
  split.x_split = 2;
  split.height = g.H;
  split.width = g.W;
  split.channels = g.C;
  split.window = {g.R, g.S};
  for (size_t i = 0; i < 2; ++i) {
    const int64_t padding = g.padding[i + 1], first = half(-padding);
    if (half(split.window[i] - 1 - padding) - first >= kSide || first < 1 - kSide) return g;
    split.padding[i + 1] = -first;
    split.offset[i] = -2 * first - padding;
  }
  split.C = split.Cg = 4 * g.C;
  split.H = ceil_div(g.H, 2);
  split.W = ceil_div(g.W, 2);
  split.R = split.S = kSide;
  split.stride = kOnes;
  return split;
}

std::optional<WinogradSizes> WinogradSizes::turned_round() const {
  const std::optional<ConvSizes> sizes = ConvSizes::turned_round();
  if (!sizes) return std::nullopt;
  WinogradSizes turned = *this;
  static_cast<ConvSizes&>(turned) = *sizes;
  std::swap(turned.x_split, turned.y_split);
  return turned;
}

template <class F>
void WinogradSizes::for_weights(const F& f) const {
  const int64_t rows = window[0], columns = window[1];
  parallel_for(K, grain_for(channels * rows * columns), [&](int64_t begin, int64_t end) {
    int64_t i = begin * channels * rows * columns;
    for (int64_t filter = begin * channels; filter < end * channels; ++filter) {
      const int64_t k = filter / channels, j = k * C + filter % channels;
      for (int64_t r = offset[0]; r < rows + offset[0]; ++r) {
        for (int64_t s = offset[1]; s < columns + offset[1]; ++s, ++i) {
          const int64_t image = r % 2 * 2 + s % 2, tap = half(r) * kSide + half(s);
          f(i, (j + image * channels) * kWindow + tap);
        }
      }
    }
  });
}

void WinogradSizes::split_weights(float* to, const float* w) const {
  std::fill_n(to, K * C * kWindow, 0.f);
  for_weights([&](int64_t i, int64_t j) { to[j] = w[i]; });
}
void WinogradSizes::unite_weights(float* dw, const float* from) const {
  for_weights([&](int64_t i, int64_t j) { dw[i] = from[j]; });
}

WinogradWeights::WinogradWeights(const WinogradSizes& g, const float* w)
    : scratch_(g.x_split == 1 ? 0 : static_cast<size_t>(g.K * g.C * kWindow) * sizeof(float)),
      data_(w) {
  if (g.x_split == 1) return;
  g.split_weights(scratch_.data<float>(), w);
  data_ = scratch_.data<float>();
}

}  // namespace ambit::cpu
