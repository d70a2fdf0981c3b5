// The gradient of the weights: tiles of 6x6 or 8x8 pixels of x and 4x4 of dy give 3x3 or 5x5 sums,
// each once for all tiles, whose products are added up at the points.
#include "backends/cpu/runtime/simd_targets.h"
#include "conv_winograd.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/conv/conv_winograd_weight_grad.cpp"
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

// Floats of tiles of x and dy that stay in the cache. Points lie 16 further apart than their tiles
// ask for: 64 tiles are powers of two, with which all would meet in the same places of a cache.
constexpr int64_t kCached = int64_t{1} << 18;

/// Write the sums of a row of K, [kPoints][K][pitch], to dw. Return whether all are finite.
template <size_t kTaps>
bool write_sums(const ConvSizes& g, float* dw, const float* sums, int64_t pitch, int64_t k) {
  constexpr size_t kSide = kTaps + kWinogradOutputs - 1, kWindow = kTaps * kTaps;
  Finite finite;
  for (int64_t c = 0; c < g.C; c += kLanes) {
    V taps[kTaps][kTaps];
    read_sums<kSide>(sums + k * pitch + c, g.K * pitch, taps);
    for (size_t t = 0; t < kWindow; ++t) {
      const V tap = taps[t / kTaps][t % kTaps];
      finite.see(tap);
      HWY_ALIGN float of_channels[kLanes];
      hn::Store(tap, D(), of_channels);
      float* to = dw + (k * g.C + c) * kWindow + t;
      for (int64_t i = 0; i < kLanes; ++i) to[i * kWindow] = of_channels[i];
    }
  }
  return finite.all();
}

template <size_t kTaps>
bool add_up(const ConvSizes& g, float* dw, const float* dy, const float* x) {
  constexpr size_t kSide = kTaps + kWinogradOutputs - 1;
  constexpr int64_t kPoints = winograd::kPoints<kSide>;
  const Images<kSide> inputs{x, g.H, g.W, g.C, g.padding[1], g.padding[2]};
  const Images<kWinogradOutputs> slopes{dy, g.P, g.Q, g.K, 0, 0};
  const WinogradTiles tiles(g);
  const int64_t x_pitch = round_up(g.C, kBlock), dy_pitch = g.K,
                tile = kPoints * (x_pitch + dy_pitch);
  const int64_t chunks = ceil_div(tiles.count(), std::max<int64_t>(kCached / tile, 64)),
                most = ceil_div(tiles.count(), chunks);
  const Scratch of_inputs(bytes(kPoints * (most * x_pitch + 16))),
      of_slopes(bytes(kPoints * (most * dy_pitch + 16))), of_taps(bytes(kPoints * g.K * x_pitch));
  float *const v = of_inputs.data<float>(), *const u = of_slopes.data<float>(),
               *const sums = of_taps.data<float>();
  for (int64_t chunk = 0; chunk < chunks; ++chunk) {
    const int64_t first = tiles.count() * chunk / chunks,
                  count = tiles.count() * (chunk + 1) / chunks - first;
    parallel_for(count, grain_for(tile), [&](int64_t begin, int64_t end) {
      inputs.template write_values<kSide>(tiles, first + begin, end - begin, v + begin * x_pitch,
                                          x_pitch, count * x_pitch + 16);
      slopes.template write_values<kSide>(tiles, first + begin, end - begin, u + begin * dy_pitch,
                                          dy_pitch, count * dy_pitch + 16);
    });
    parallel_for(kPoints, grain_for_products(count * g.K * g.C), [&](int64_t begin, int64_t end) {
      for (int64_t point = begin; point < end; ++point) {
        const Matrix<const float> a{u + point * (count * dy_pitch + 16), 1, dy_pitch};
        for (int64_t c = 0; c < g.C; c += kBlock) {
          multiply(g.K, count, sums + point * g.K * x_pitch + c, x_pitch, a,
                   v + point * (count * x_pitch + 16) + c, x_pitch, chunk > 0);
        }
      }
    });
  }
  std::atomic<bool> finite = true;
  parallel_for(g.K, grain_for(kPoints * g.C), [&](int64_t begin, int64_t end) {
    for (int64_t k = begin; k < end; ++k) {
      if (!write_sums<kTaps>(g, dw, sums, x_pitch, k)) finite = false;
    }
  });
  return finite;
}

bool weight_grad(const ConvSizes& g, float* dw, const float* dy, const float* x) {
  if constexpr (kLanes == 1) {
    return false;  // is not compiled: has_winograd_conv() says no
  } else {
    return g.R == 3 ? add_up<3>(g, dw, dy, x) : add_up<5>(g, dw, dy, x);
  }
}

}  // namespace
}  // namespace ambit::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ambit::cpu {

HWY_EXPORT(weight_grad);

bool winograd_conv_weight_grad(const ConvSizes& g, float* dw, const float* dy, const float* x) {
  return HWY_DYNAMIC_DISPATCH(weight_grad)(g, dw, dy, x);
}

}  // namespace ambit::cpu
#endif
