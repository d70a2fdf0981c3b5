// packed[offset(t, r) + pixel][s, c] += sum over k of dy[pixel][k] * w[k][c][t][r][s]. With
// channels innermost, a row of the window with all its channels is contiguous and fills vectors.
// Rows of the window at several rows of pixels do not overlap, so that no load waits for a store.
#include "conv_filters.h"

#include "backends/cpu/runtime/simd_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/conv/conv_filters_input_grad.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>
#include <array>

#include "backends/cpu/layout/channels_last.h"
#include "backends/cpu/matmul/tile-inl.h"
#include "backends/cpu/runtime/parallel.h"
#include "backends/cpu/runtime/scratch.h"
#include "conv_packing.h"

HWY_BEFORE_NAMESPACE();
namespace ambit::cpu::HWY_NAMESPACE {
namespace {

#if HWY_TARGET == HWY_AVX3
constexpr size_t kVectors = 2;  // vectors of a window row at a time
constexpr int64_t kRows = 5;    // rows of pixels; often divides the output height for 5x5
constexpr int64_t kWidth = Tile<float, 1, kVectors>::kWidth;

/// Add a part of a window row, `lanes` of kWidth, to the gradient under kCount rows of Q pixels:
/// packed [kCount][pitch][C], dy [kCount][Q][K], w [K][kWidth].
template <int64_t kCount>
void scatter(const ConvPacking& packing, float* packed, const float* dy, const float* w,
             int64_t lanes) {
  const ConvSizes& g = packing.sizes;
  for (int64_t q = 0; q < g.Q; ++q, packed += g.C, dy += g.K) {
    Tile<float, kCount, kVectors> tile;
    for (int64_t k = 0; k < g.K; ++k) tile.add_product(dy + k, g.Q * g.K, w + k * kWidth);
    tile.add_first_to(lanes, packed, packing.pitch * g.C);
  }
}

/// Pack w as [T][R][runs of kWidth of S * C][K][kWidth], zero-padded after the last element.
void pack_weights_by_row(const ConvSizes& g, float* packed, const float* w) {
  for (int64_t row = 0; row < g.T * g.R; ++row) {
    for (int64_t first = 0; first < g.S * g.C; first += kWidth) {
      for (int64_t k = 0; k < g.K; ++k) {
        for (int64_t i = first; i < first + kWidth; ++i) {
          const int64_t c = i % g.C, s = i / g.C;
          *packed++ = s < g.S ? w[((k * g.C + c) * g.T * g.R + row) * g.S + s] : 0.0f;
        }
      }
    }
  }
}

/// Add the gradient of one image to packed, which is zero before.
void scatter_image(const ConvPacking& packing, float* packed, const float* dy, const float* w) {
  const ConvSizes& g = packing.sizes;
  for (int64_t row = 0; row < g.T * g.R; ++row) {
    const int64_t at =
        row / g.R * g.dilation[0] * packing.plane + row % g.R * g.dilation[1] * packing.pitch;
    for (int64_t first = 0; first < g.S * g.C; first += kWidth, w += g.K * kWidth) {
      const int64_t lanes = std::min(kWidth, g.S * g.C - first);
      for (int64_t o = 0; o < g.O; ++o) {
        for (int64_t p = 0; p < g.P;) {
          float* const to = packed + (at + o * packing.plane + p * packing.pitch) * g.C + first;
          const float* const from = dy + (o * g.P + p) * g.Q * g.K;
          const bool many = g.P - p >= kRows;
          (many ? scatter<kRows> : scatter<1>)(packing, to, from, w, lanes);
          p += many ? kRows : 1;
        }
      }
    }
  }
}

bool input_grad(const ConvSizes& g, float* dx, const float* dy, const float* w) {
  const ConvPacking packing(g);
  const auto bytes = [](int64_t n) { return static_cast<size_t>(n) * sizeof(float); };
  const Scratch weights(bytes(g.T * g.R * round_up(g.S * g.C, kWidth) * g.K));
  pack_weights_by_row(g, weights.data<float>(), w);
  parallel_for(g.N, grain_for_taps(g.N, g.work() / g.N), [&](int64_t begin, int64_t end) {
    const Scratch packed(bytes(packing.image() + kWidth));  // vectors may extend past an image
    const Scratch row_major(bytes(packing.image()));
    for (int64_t n = begin; n < end; ++n) {
      std::fill_n(packed.data<float>(), packing.image(), 0.0f);
      scatter_image(packing, packed.data<float>(), dy + n * g.K * g.y_plane(),
                    weights.data<float>());
      channels_last_to_row_major(row_major.data(), packed.data(),
                                 channels_last_layout(kFloat32, 1, g.C, packing.channel));
      unpack_image(packing, dx + n * g.C * g.x_plane(), row_major.data<float>());
    }
  });
  return true;
}
#else
bool input_grad(const ConvSizes&, float*, const float*, const float*) { return false; }
#endif

}  // namespace
}  // namespace ambit::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ambit::cpu {

HWY_EXPORT(input_grad);

bool filters_conv_input_grad(const ConvSizes& g, float* dx, const float* dy, const float* w) {
  constexpr std::array<int64_t, 3> kOnes{1, 1, 1};
  const int64_t used = g.S * g.C;  // lanes of two vectors
  const bool fills = g.C < 16 && 4 * used >= 3 * round_up(used, 32);
  return g.groups == 1 && g.stride == kOnes && g.dilation[2] == 1 && fills &&
         HWY_DYNAMIC_DISPATCH(input_grad)(g, dx, dy, w);
}

}  // namespace ambit::cpu
#endif
