// y[k][f] = sum over taps of w[k][tap] * packed[offset(tap) + f], where f runs over an output
// channel with the pitches of the packed rows and planes. Values between the rows of y are computed
// too and discarded.
#include "conv_direct.h"

#include "backends/cpu/runtime/simd_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/conv/conv_direct.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>

#include "backends/cpu/matmul/tile-inl.h"
#include "backends/cpu/runtime/parallel.h"
#include "backends/cpu/runtime/scratch.h"
#include "conv_packing.h"

HWY_BEFORE_NAMESPACE();
namespace ambit::cpu::HWY_NAMESPACE {
namespace {

constexpr int64_t kRows = kTileRows;

/// Pack strips of kRows filters: [groups][strips][taps][kRows], zero-padded after the last filter.
template <class T>
void pack_weights(const ConvSizes& g, T* packed, const T* w) {
  const int64_t strips = ceil_div(g.Kg, kRows);
  for (int64_t i = 0; i < g.groups * strips; ++i) {
    const int64_t first = i % strips * kRows, count = std::min(kRows, g.Kg - first);
    const T* from = w + (i / strips * g.Kg + first) * g.taps();
    for (int64_t t = 0; t < g.taps(); ++t, packed += kRows) {
      for (int64_t k = 0; k < kRows; ++k) packed[k] = k < count ? from[k * g.taps() + t] : T(0);
    }
  }
}

/// Compute N vectors of one strip of filters: sums [kRows][length].
template <class T, size_t N>
void convolve_tile(const ConvPacking& packing, T* sums, int64_t length, const T* packed,
                   const T* w) {
  Tile<T, kTileRows, N> tile;
  for (const int64_t offset : packing.offsets) {
    tile.add_product(w, packed + offset);
    w += kRows;
  }
  tile.store(sums, length);
}

/// Compute one strip of filters on one image; `length` is a multiple of the vector length.
template <class T>
void convolve_strip(const ConvPacking& packing, T* sums, int64_t length, const T* packed,
                    const T* w) {
  using Full = Tile<T, kTileRows, kTileVectors>;
  int64_t f = 0;
  for (; f + Full::kWidth <= length; f += Full::kWidth) {
    convolve_tile<T, kTileVectors>(packing, sums + f, length, packed + f, w);
  }
  for (; f < length; f += Full::kLanes) {
    convolve_tile<T, 1>(packing, sums + f, length, packed + f, w);
  }
}

template <class T>
void forward(const ConvSizes& g, T* y, const T* x, const T* w, const T* b, UnaryLoop map) {
  constexpr int64_t kLanes = Tile<T, kTileRows, 1>::kLanes;
  const ConvPacking packing(g);
  const int64_t strips = ceil_div(g.Kg, kRows), length = round_up(packing.flat(), kLanes);
  const int64_t at_once = packing.images_at_once(sizeof(T));
  PackedImages<T> packed(packing, x, at_once);
  const Scratch weights(static_cast<size_t>(g.groups * strips * kRows * g.taps()) * sizeof(T));
  pack_weights(g, weights.data<T>(), w);
  const auto strip = [&](int64_t n, int64_t i, T* sums) {  // i: group and strip
    const int64_t group = i / strips, k = group * g.Kg + i % strips * kRows;
    convolve_strip(packing, sums, length, packed.image(n) + group * g.Cg * packing.channel,
                   weights.data<T>() + i * kRows * g.taps());
    const int64_t past = std::min(k + kRows, (group + 1) * g.Kg);
    T* to = y + (n * g.K + k) * g.y_plane();
    for (int64_t row = k; row < past; ++row, sums += length) {
      const T bias = b ? b[row] : T(0);
      for (int64_t o = 0; o < g.O; ++o) {
        const T* from = sums + o * packing.plane;
        for (int64_t p = 0; p < g.P; ++p, to += g.Q, from += packing.pitch) {
          for (int64_t q = 0; q < g.Q; ++q) to[q] = from[q] + bias;
        }
      }
      if (map) map(g.y_plane(), to - g.y_plane(), to - g.y_plane());
    }
  };
  for (int64_t first = 0; first < g.N; first += at_once) {
    const int64_t images = std::min(at_once, g.N - first);
    packed.take(first, first + images);
    const int64_t per_image = g.groups * strips;
    parallel_for(images * per_image, grain_for_taps(images * per_image, length * kRows * g.taps()),
                 [&](int64_t begin, int64_t end) {
                   const Scratch sums(static_cast<size_t>(kRows * length) * sizeof(T));
                   for (int64_t i = begin; i < end; ++i) {
                     strip(first + i / per_image, i % per_image, sums.data<T>());
                   }
                 });
  }
}

// HWY_EXPORT needs plain functions, hence one for each type.
auto find_float() { return forward<float>; }
auto find_double() { return forward<double>; }

}  // namespace
}  // namespace ambit::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ambit::cpu {

HWY_EXPORT(find_float);
HWY_EXPORT(find_double);

template <>
void direct_conv(const ConvSizes& g, float* y, const float* x, const float* w, const float* b,
                 UnaryLoop map) {
  HWY_DYNAMIC_DISPATCH(find_float)()(g, y, x, w, b, map);
}
template <>
void direct_conv(const ConvSizes& g, double* y, const double* x, const double* w, const double* b,
                 UnaryLoop map) {
  HWY_DYNAMIC_DISPATCH(find_double)()(g, y, x, w, b, map);
}

}  // namespace ambit::cpu
#endif
