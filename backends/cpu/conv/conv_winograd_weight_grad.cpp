// The gradient of the weights: tiles of 6x6 or 8x8 pixels of x and 4x4 or 5x5 of dy give 2x2, 3x3
// or 5x5 sums. The products are summed over all tiles at each point, then transformed once.
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

// Floats of tiles of x and dy that fit in the cache.
constexpr int64_t kCached = int64_t{1} << 18;

/// Transform the sums of filter k, [points][K][pitch] with a gap, and write them to dw. Return true
/// if all are finite.
template <class Taps>
bool write_sums(const WinogradSizes& g, float* dw, const float* sums, int64_t pitch, int64_t k) {
  constexpr int64_t kWindow = Taps::kCount;
  Finite finite;
  for (int64_t i = 0; i < g.T * g.C; i += kLanes) {
    V taps[Taps::kHeight][Taps::kWidth];
    read_sums<Points<Taps>>(sums + k * pitch + i, g.K * pitch + kGap, taps);
    const int64_t plane = i / g.C, first = (k * g.C + i % g.C) * g.T + plane;
    for (size_t t = 0; t < kWindow; ++t) {
      const V tap = taps[t / Taps::kWidth][t % Taps::kWidth];
      finite.add(tap);
      HWY_ALIGN float of_channels[kLanes];
      hn::Store(tap, D(), of_channels);
      float* to = dw + first * kWindow + t;
      for (int64_t c = 0; c < kLanes; ++c) to[c * g.T * kWindow] = of_channels[c];
    }
  }
  return finite.all();
}

/// Functions for one window size: number of points and the transforms.
struct Maps {
  int64_t points;
  Images::Write inputs, grad_output;
  bool (*sums)(const WinogradSizes&, float*, const float*, int64_t, int64_t);
};
template <class Taps>
Maps maps() {
  return {Points<Taps>::kCount, &Images::write_values<Points<Taps>, Points<Taps>>,
          &Images::write_values<Points<Taps>, Outputs<Taps>>, &write_sums<Taps>};
}

// Not called if vectors have one lane.
[[maybe_unused]] bool add_up(const Maps& maps, const WinogradSizes& g, float* dw, const float* dy,
                             const float* x) {
  const int64_t points = maps.points;
  const Images inputs{winograd_images(g, x)}, grad_output{{dy, g.O, g.P, g.Q, g.K, 0, 0, 0}};
  const WinogradTiles tiles(g);
  // Each plane of dy is multiplied with T consecutive planes of x.
  const int64_t planes = tiles.planes(), x_planes = planes + g.T - 1, columns = g.T * g.C,
                sum_pitch = round_up(columns, kBlock), x_pitch = round_up(x_planes * g.C, kBlock),
                dy_pitch = planes * g.K, tile = points * (x_pitch + dy_pitch);
  const int64_t chunks = ceil_div(tiles.count(), std::max(kCached / tile, ceil_div(64, planes))),
                most = ceil_div(tiles.count(), chunks);
  const int64_t sum_stride = g.K * sum_pitch + kGap;
  const Scratch of_inputs(bytes(points * (most * x_pitch + kGap))),
      of_grad_output(bytes(points * (most * dy_pitch + kGap))), of_taps(bytes(points * sum_stride));
  float *const v = of_inputs.data<float>(), *const u = of_grad_output.data<float>(),
               *const sums = of_taps.data<float>();
  for (int64_t chunk = 0; chunk < chunks; ++chunk) {
    const int64_t first = tiles.count() * chunk / chunks,
                  count = tiles.count() * (chunk + 1) / chunks - first,
                  x_stride = count * x_pitch + kGap, dy_stride = count * dy_pitch + kGap;
    parallel_for(count, grain_for(tile), [&](int64_t begin, int64_t end) {
      (inputs.*maps.inputs)(tiles, first + begin, end - begin, x_planes, v + begin * x_pitch,
                            x_pitch, x_stride);
      (grad_output.*maps.grad_output)(tiles, first + begin, end - begin, planes,
                                      u + begin * dy_pitch, dy_pitch, dy_stride);
    });
    const Depth depth = planes == 1 ? Depth{count} : Depth{planes, count, dy_pitch, x_pitch};
    const int64_t dy_step = planes == 1 ? dy_pitch : g.K, x_step = planes == 1 ? x_pitch : g.C;
    parallel_for(points, grain_for_products(count * planes * g.K * columns),
                 [&](int64_t begin, int64_t end) {
                   for (int64_t point = begin; point < end; ++point) {
                     const Matrix<const float> a{u + point * dy_stride, 1, dy_step};
                     for (int64_t c = 0; c < columns; c += kBlock) {
                       multiply(g.K, depth, sums + point * sum_stride + c, sum_pitch, a,
                                v + point * x_stride + c, x_step, chunk > 0);
                     }
                   }
                 });
  }
  std::atomic<bool> finite = true;
  parallel_for(g.K, grain_for(points * columns), [&](int64_t begin, int64_t end) {
    for (int64_t k = begin; k < end; ++k) {
      if (!maps.sums(g, dw, sums, sum_pitch, k)) finite = false;
    }
  });
  return finite;
}

bool weight_grad(const WinogradSizes& g, float* dw, const float* dy, const float* x) {
  if constexpr (kLanes == 1) {
    return false;  // not instantiated: has_winograd_conv() returns false
  } else {
    if constexpr (kHasAll) {
      if (g.R == 1) return add_up(maps<Window<1, 5>>(), g, dw, dy, x);
      if (g.R == 2) return add_up(maps<Window<2, 2>>(), g, dw, dy, x);
    }
    return add_up(g.R == 3 ? maps<Window<3, 3>>() : maps<Window<5, 5>>(), g, dw, dy, x);
  }
}

}  // namespace
}  // namespace ambit::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ambit::cpu {

HWY_EXPORT(weight_grad);

bool winograd_conv_weight_grad(const WinogradSizes& g, float* dw, const float* dy, const float* x) {
  return HWY_DYNAMIC_DISPATCH(weight_grad)(g, dw, dy, x);
}

}  // namespace ambit::cpu
#endif
