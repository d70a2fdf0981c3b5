#include "conv_winograd.h"

#include "backends/cpu/runtime/simd_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/conv/conv_winograd.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>
#include <atomic>

#include "backends/cpu/runtime/scratch.h"
#include "winograd-inl.h"

HWY_BEFORE_NAMESPACE();
namespace ambit::cpu::HWY_NAMESPACE {
namespace {

using namespace winograd;

// Tiles whose products with a block of filters stay in the cache, by whole runs of rows.
constexpr int64_t kGroup = 28 / kMostRows * kMostRows;
// Floats of tiles that do, beside filters.
constexpr int64_t kCached = int64_t{1} << 16;
// Tiles whose products with a filter take as long as its transform, where it is made for them.
constexpr int64_t kFilterCost = 16;

/// Of windows of kTaps x kTaps.
template <size_t kTaps>
class Convolution {
 public:
  Convolution(const ConvSizes& g, float* y, const float* x, const float* w, bool turned,
              const float* b)
      : g_(g),
        y_(y),
        x_{x, g.H, g.W, g.C, g.padding[1], g.padding[2]},
        w_(w),
        turned_(turned),
        b_(b),
        tiles_(g),
        pitch_(g.C),
        filters_pitch_(g.C * kBlock + 16) {}

  bool run();

 private:
  static constexpr size_t kSide = kTaps + kWinogradOutputs - 1;
  static constexpr int64_t kPoints = winograd::kPoints<kSide>, kWindow = kTaps * kTaps;

  int64_t filters_size() const { return kPoints * filters_pitch_; }
  /// u [kPoints][filters_pitch], of a block of filters: [C][kBlock].
  void transform_filters(int64_t block, float* u) const;
  /// From v [kPoints][count][pitch] of tiles and u, by way of m [kPoints][kGroup][kBlock]. Return
  /// whether all results are finite.
  bool convolve(int64_t block, int64_t first, int64_t count, const float* v, const float* u,
                float* m) const;
  bool write_tiles(int64_t block, int64_t first, int64_t count, const float* m) const;

  const ConvSizes& g_;
  float* const y_;
  const Images<kSide> x_;
  const float* const w_;
  const bool turned_;
  const float* const b_;
  const WinogradTiles tiles_;
  // Of tiles, and of points of filters, which lie 16 floats further apart, as those of tiles do:
  // with powers of two all would meet in the same places of a cache.
  const int64_t pitch_, filters_pitch_;
};

template <size_t kTaps>
void Convolution<kTaps>::transform_filters(int64_t block, float* u) const {
  const int64_t first = block * kBlock, filters = std::min(kBlock, g_.K - first);
  const int64_t filter = turned_ ? kWindow : g_.C * kWindow,
                channel = turned_ ? g_.K * kWindow : kWindow;
  HWY_ALIGN float taps[kWindow][kBlock] = {};
  for (int64_t c = 0; c < g_.C; ++c) {
    for (int64_t k = 0; k < filters; ++k) {
      const float* from = w_ + (first + k) * filter + c * channel;
      for (int64_t t = 0; t < kWindow; ++t) taps[turned_ ? kWindow - 1 - t : t][k] = from[t];
    }
    for (int64_t k = 0; k < kBlock; k += kLanes) {
      const auto at = [&](size_t i, size_t j)
                          HWY_ATTR { return hn::Load(D(), &taps[i * kTaps + j][k]); };
      write_values<kSide, kTaps>(at, u + c * kBlock + k, filters_pitch_);
    }
  }
}

template <size_t kTaps>
bool Convolution<kTaps>::write_tiles(int64_t block, int64_t first, int64_t count,
                                     const float* m) const {
  Finite finite;
  for (int64_t k = block * kBlock; k < std::min(g_.K, (block + 1) * kBlock); k += kLanes) {
    const V bias = b_ ? hn::LoadU(D(), b_ + k) : hn::Zero(D());
    for (int64_t t = 0; t < count; ++t) {
      V sums[kWinogradOutputs][kWinogradOutputs];
      read_sums<kSide>(m + t * kBlock + k % kBlock, count * kBlock, sums);
      const auto tile = tiles_[first + t];
      for (int64_t i = 0; i < std::min(kWinogradOutputs, g_.P - tile.row); ++i) {
        float* to = y_ + ((tile.image * g_.P + tile.row + i) * g_.Q + tile.column) * g_.K + k;
        for (int64_t j = 0; j < std::min(kWinogradOutputs, g_.Q - tile.column); ++j, to += g_.K) {
          const V sum = hn::Add(sums[i][j], bias);
          finite.see(sum);
          hn::StoreU(sum, D(), to);
        }
      }
    }
  }
  return finite.all();
}

template <size_t kTaps>
bool Convolution<kTaps>::convolve(int64_t block, int64_t first, int64_t count, const float* v,
                                  const float* u, float* m) const {
  bool finite = true;
  const int64_t groups = ceil_div(count, kGroup);
  for (int64_t i = 0, begin = 0; i < groups; ++i) {
    const int64_t tiles = ceil_div(count - begin, groups - i);
    for (int64_t point = 0; point < kPoints; ++point) {
      const Matrix<const float> a{v + point * (count * pitch_ + 16) + begin * pitch_, pitch_, 1};
      multiply(tiles, g_.C, m + point * tiles * kBlock, kBlock, a, u + point * filters_pitch_,
               kBlock, false);
    }
    finite &= write_tiles(block, first + begin, tiles, m);
    begin += tiles;
  }
  return finite;
}

template <size_t kTaps>
bool Convolution<kTaps>::run() {
  // Parts are some tiles, whose values stay in a core's cache, but the more the more filters have
  // to be read for them; of few tiles, some filters each.
  const int64_t filters = kPoints * g_.C * g_.K,
                at_once = std::max(kCached / (kPoints * pitch_),
                                   std::clamp<int64_t>(filters >> 15, 14, 64));
  const int64_t chunks = ceil_div(tiles_.count(), at_once), blocks = ceil_div(g_.K, kBlock);
  const int64_t shares = std::clamp<int64_t>(8 / chunks, 1, blocks);
  const int64_t most = ceil_div(tiles_.count(), chunks);
  const bool once = chunks == 1;  // a block of filters meets tiles
  const Scratch all_filters(once ? 0 : bytes(blocks * filters_size()));
  if (!once) {
    parallel_for(blocks, grain_for(filters_size()), [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        transform_filters(i, all_filters.data<float>() + i * filters_size());
      }
    });
  }
  std::atomic<bool> finite = true;
  const int64_t work = kPoints * (most + (once ? kFilterCost : 0)) * g_.C * ceil_div(g_.K, shares);
  parallel_for(chunks * shares, grain_for_products(work), [&](int64_t begin, int64_t end) {
    const Scratch values(bytes(kPoints * (most * pitch_ + 16))),
        products(bytes(kPoints * std::min(most, kGroup) * kBlock)),
        own_filters(once ? bytes(filters_size()) : 0);
    float *const v = values.data<float>(), *const own = own_filters.data<float>();
    for (int64_t i = begin; i < end; ++i) {
      const int64_t chunk = i / shares, share = i % shares;
      const int64_t first = tiles_.count() * chunk / chunks,
                    count = tiles_.count() * (chunk + 1) / chunks - first;
      if (i == begin || share == 0)
        x_.template write_values<kSide>(tiles_, first, count, v, pitch_, count * pitch_ + 16);
      for (int64_t k = blocks * share / shares; k < blocks * (share + 1) / shares; ++k) {
        if (once) transform_filters(k, own);
        const float* u = once ? own : all_filters.data<float>() + k * filters_size();
        if (!convolve(k, first, count, v, u, products.data<float>())) finite = false;
      }
    }
  });
  return finite;
}

bool has_vectors() { return kLanes > 1; }

bool convolve(const ConvSizes& g, float* y, const float* x, const float* w, bool turned,
              const float* b) {
  if constexpr (kLanes == 1) {
    return false;  // is not compiled: has_winograd_conv() says no
  } else {
    return g.R == 3 ? Convolution<3>(g, y, x, w, turned, b).run()
                    : Convolution<5>(g, y, x, w, turned, b).run();
  }
}

}  // namespace
}  // namespace ambit::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ambit::cpu {

HWY_EXPORT(has_vectors);
HWY_EXPORT(convolve);

bool has_winograd_conv(const ConvSizes& g) {
  const bool is_square = g.dims == 2 && g.R == g.S && (g.R == 3 || g.R == 5);
  const bool is_plain = g.groups == 1 && g.stride[1] == 1 && g.stride[2] == 1 &&
                        g.dilation[1] == 1 && g.dilation[2] == 1;
  const bool fills_vectors = g.C % 16 == 0 && g.K % 16 == 0 && g.C >= 32 && g.K >= 32;
  if (!is_square || !is_plain || !fills_vectors) return false;
  // To know the filters' values costs as much as some tiles do, and tiles reach beyond images: from
  // so many products fewer on it is faster, as measured.
  const int64_t tiles = WinogradTiles(g).count(), side = g.R + kWinogradOutputs - 1,
                products = g.N * g.P * g.Q * g.R * g.S,
                fewer = (g.R == 3 ? 2 * tiles : 4 * (tiles + 8)) * side * side;
  return tiles >= 16 && products >= fewer && HWY_DYNAMIC_DISPATCH(has_vectors)();
}

bool winograd_conv(const ConvSizes& g, float* y, const float* x, const float* w, bool turned,
                   const float* b) {
  return HWY_DYNAMIC_DISPATCH(convolve)(g, y, x, w, turned, b);
}

}  // namespace ambit::cpu
#endif
