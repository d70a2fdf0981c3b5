// y[pixel][k] = sum over taps of packed[offset(tap) + pixel] * w[tap][k], and
// dw[tap][k] = sum over pixels of packed[offset(tap) + pixel] * dy[pixel][k]. Loads, not
// multiply-adds, are the bottleneck: adjacent pixels and the taps of a row of the window are kept
// in registers, so that each element of the image is loaded once for all products of them.
#include "conv_filters.h"

#include "backends/cpu/runtime/simd_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/conv/conv_filters.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>
#include <array>
#include <utility>

#include "backends/cpu/runtime/parallel.h"
#include "backends/cpu/runtime/scratch.h"
#include "conv_packing.h"

HWY_BEFORE_NAMESPACE();
namespace ambit::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;
namespace {

using D = hn::ScalableTag<float>;
using V = hn::Vec<D>;
constexpr int64_t kLanes = hn::MaxLanes(D());
// As many as fit in registers together with 5 taps and one more: x86 before AVX-512 has 16.
constexpr size_t kMostPixels = HWY_ARCH_X86 && HWY_TARGET != HWY_AVX3 ? 8 : 12;

/// Registers for kPixels adjacent pixels and kTaps adjacent taps, each a vector of filters. Pixel p
/// and tap t are multiplied with or by x[p + t].
template <size_t kPixels, size_t kTaps>
class Window {
 public:
  // Not implicit: an implicit constructor is compiled without this namespace's target attribute,
  // which NEON's vectors need.
  HWY_INLINE Window() {}

  /// Set all pixels to b [kLanes], or to 0 if b is null.
  HWY_INLINE void fill_pixels(const float* b) {
    fill_pixels(b ? hn::LoadU(D(), b) : hn::Zero(D()), Pixels());
  }
  /// Load the first kLanes of each row of [kPixels][stride].
  HWY_INLINE void load_pixels(const float* from, int64_t stride) {
    load(pixels_, from, stride, Pixels());
  }
  HWY_INLINE void store_pixels(float* to, int64_t stride) const {
    store(pixels_, to, stride, Pixels());
  }
  /// [kTaps][kLanes].
  HWY_INLINE void load_taps(const float* from) { load(taps_, from, kLanes, Taps()); }
  HWY_INLINE void store_taps(float* to) const { store(taps_, to, kLanes, Taps()); }

  /// pixel[p] += x[p + t] * tap[t].
  HWY_INLINE void add_to_pixels(const float* x) { add<true>(x, Elements()); }
  /// tap[t] += x[p + t] * pixel[p].
  HWY_INLINE void add_to_taps(const float* x) { add<false>(x, Elements()); }

 private:
  using Pixels = std::make_index_sequence<kPixels>;
  using Taps = std::make_index_sequence<kTaps>;
  using Elements = std::make_index_sequence<kPixels + kTaps - 1>;

  template <size_t... I>
  HWY_INLINE void fill_pixels(V v, std::index_sequence<I...>) {
    ((pixels_[I] = v), ...);
  }
  template <size_t... I>
  static HWY_INLINE void load(V* v, const float* from, int64_t stride, std::index_sequence<I...>) {
    ((v[I] = hn::LoadU(D(), from + static_cast<int64_t>(I) * stride)), ...);
  }
  template <size_t... I>
  static HWY_INLINE void store(const V* v, float* to, int64_t stride, std::index_sequence<I...>) {
    ((hn::StoreU(v[I], D(), to + static_cast<int64_t>(I) * stride)), ...);
  }
  template <bool kToPixels, size_t... I>
  HWY_INLINE void add(const float* x, std::index_sequence<I...>) {
    ((multiply_add<kToPixels, I>(hn::Set(D(), x[I]), Taps())), ...);
  }
  template <bool kToPixels, size_t I, size_t... T>
  HWY_INLINE void multiply_add(V x, std::index_sequence<T...>) {
    ((multiply_add<kToPixels, I, T>(x)), ...);
  }
  template <bool kToPixels, size_t I, size_t T>
  HWY_INLINE void multiply_add(V x) {
    if constexpr (T <= I && I - T < kPixels) {
      V &pixel = pixels_[I - T], &tap = taps_[T];
      (kToPixels ? pixel : tap) = hn::MulAdd(x, kToPixels ? tap : pixel, kToPixels ? pixel : tap);
    }
  }

  V pixels_[kPixels], taps_[kTaps];
};

/// Compute kPixels pixels of y; w [taps][kLanes].
template <size_t kPixels, size_t kTaps>
void convolve(const ConvPacking& packing, float* y, const float* x, const float* w,
              const float* b) {
  Window<kPixels, kTaps> window;
  window.fill_pixels(b);
  for (size_t tap = 0; tap < packing.offsets.size(); tap += kTaps, w += kTaps * kLanes) {
    window.load_taps(w);
    window.add_to_pixels(x + packing.offsets[tap]);
  }
  window.store_pixels(y, packing.sizes.K);
}

/// Add the products of kPixels pixels to window rows [begin, end): sums [rows][kTaps][kLanes].
template <size_t kPixels, size_t kTaps>
void correlate(const ConvPacking& packing, float* sums, const float* dy, const float* x,
               size_t begin, size_t end) {
  Window<kPixels, kTaps> window;
  window.load_pixels(dy, packing.sizes.K);
  for (size_t row = begin; row < end; ++row, sums += kTaps * kLanes) {
    window.load_taps(sums);
    window.add_to_taps(x + packing.offsets[row * kTaps]);
    window.store_taps(sums);
  }
}

/// Tables of these functions by number of pixels, for each supported window width.
template <size_t kTaps, size_t... I>
constexpr auto convolve_table(std::index_sequence<I...>) {
  return std::array{&convolve<I + 1, kTaps>...};
}
template <size_t kTaps, size_t... I>
constexpr auto correlate_table(std::index_sequence<I...>) {
  return std::array{&correlate<I + 1, kTaps>...};
}
using PixelCounts = std::make_index_sequence<kMostPixels>;
constexpr auto kConvolve3 = convolve_table<3>(PixelCounts()),
               kConvolve5 = convolve_table<5>(PixelCounts());
constexpr auto kCorrelate3 = correlate_table<3>(PixelCounts()),
               kCorrelate5 = correlate_table<5>(PixelCounts());

/// Call f(first, count) for runs of about equal length that partition the Q pixels of a row.
template <class F>
void for_runs(int64_t Q, const F& f) {
  const int64_t runs = ceil_div(Q, static_cast<int64_t>(kMostPixels));
  for (int64_t i = 0, q = 0; i < runs; ++i) {
    const int64_t count = ceil_div(Q - q, runs - i);
    f(q, count);
    q += count;
  }
}

/// Return the offset in a packed image of row i of y.
int64_t row_offset(const ConvPacking& packing, int64_t i) {
  return i / packing.sizes.P * packing.plane + i % packing.sizes.P * packing.pitch;
}

/// Copy the filters w to packed [K / kLanes][taps][kLanes].
void pack_filters(const ConvSizes& g, float* packed, const float* w) {
  for (int64_t first = 0; first < g.K; first += kLanes) {
    for (int64_t t = 0; t < g.taps(); ++t) {
      for (int64_t k = 0; k < kLanes; ++k) *packed++ = w[(first + k) * g.taps() + t];
    }
  }
}

void forward(const ConvSizes& g, float* y, const float* x, const float* w, const float* b) {
  const auto& convolve = g.S == 3 ? kConvolve3 : kConvolve5;
  const ConvPacking packing(g);
  const int64_t at_once = packing.images_at_once(sizeof(float)), rows = g.O * g.P;
  PackedImages<float> packed(packing, x, at_once);
  const Scratch filters(static_cast<size_t>(g.K * g.taps()) * sizeof(float));
  pack_filters(g, filters.data<float>(), w);
  const auto convolve_row = [&](int64_t n, int64_t i) {
    const float* from = packed.image(n) + row_offset(packing, i);
    float* to = y + (n * rows + i) * g.Q * g.K;
    for (int64_t k = 0; k < g.K; k += kLanes) {
      for_runs(g.Q, [&](int64_t q, int64_t count) {
        convolve[static_cast<size_t>(count - 1)](packing, to + q * g.K + k, from + q,
                                                 filters.data<float>() + k * g.taps(),
                                                 b ? b + k : nullptr);
      });
    }
  };
  for (int64_t first = 0; first < g.N; first += at_once) {
    const int64_t images = std::min(at_once, g.N - first);
    packed.take(first, first + images);
    parallel_for(images * rows, grain_for_taps(images * rows, g.Q * g.K * g.taps()),
                 [&](int64_t begin, int64_t end) {
                   for (int64_t i = begin; i < end; ++i) convolve_row(first + i / rows, i % rows);
                 });
  }
}

/// Threads share parts of the images and, within a part, the window rows of each vector of filters.
/// The contribution of each image is summed separately first, which reduces rounding errors.
void weight_grad(const ConvSizes& g, float* dw, const float* dy, const float* x) {
  const auto& correlate = g.S == 3 ? kCorrelate3 : kCorrelate5;
  const ConvPacking packing(g);
  const int64_t at_once = packing.images_at_once(sizeof(float));
  const int64_t window_rows = g.taps() / g.S, all_rows = g.K / kLanes * window_rows;
  PackedImages<float> packed(packing, x, at_once);
  const Scratch room(static_cast<size_t>(g.K * g.taps()) * sizeof(float));
  float* const all = room.data<float>();  // [K / kLanes][taps][kLanes]
  const PartSums<float> sums(g, all, g.K * g.taps());
  // Add to `of_image` [end - begin][S][kLanes].
  const auto take_image = [&](int64_t n, float* of_image, int64_t begin, int64_t end) {
    for (int64_t row = begin; row < end;) {
      const int64_t vector = row / window_rows, past = std::min(end, (vector + 1) * window_rows);
      const auto from = static_cast<size_t>(row % window_rows);
      for (int64_t i = 0; i < g.O * g.P; ++i) {
        const float* grad = dy + (n * g.O * g.P + i) * g.Q * g.K + vector * kLanes;
        for_runs(g.Q, [&](int64_t q, int64_t count) {
          correlate[static_cast<size_t>(count - 1)](
              packing, of_image + (row - begin) * g.S * kLanes, grad + q * g.K,
              packed.image(n) + row_offset(packing, i) + q, from,
              from + static_cast<size_t>(past - row));
        });
      }
      row = past;
    }
  };
  const auto take = [&](float* of_part, int64_t n, int64_t past, int64_t begin, int64_t end) {
    const int64_t count = (end - begin) * g.S * kLanes;
    const Scratch of_image(static_cast<size_t>(count) * sizeof(float));
    for (; n < past; ++n) {
      std::fill_n(of_image.data<float>(), count, 0.0f);
      take_image(n, of_image.data<float>(), begin, end);
      float* to = of_part + begin * g.S * kLanes;
      for (int64_t i = 0; i < count; ++i) to[i] += of_image.data<float>()[i];
    }
  };
  for (int64_t first = 0; first < g.N; first += at_once) {
    const int64_t past = std::min(g.N, first + at_once);
    packed.take(first, past);
    sums.for_items(first, past, all_rows, g.y_plane() * g.S * kLanes, take);
  }
  sums.finish();
  for (int64_t i = 0; i < g.K * g.taps(); ++i) {
    const int64_t vector = i / kLanes / g.taps(), tap = i / kLanes % g.taps();
    dw[(vector * kLanes + i % kLanes) * g.taps() + tap] = all[i];
  }
}

}  // namespace
}  // namespace ambit::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ambit::cpu {

HWY_EXPORT(forward);
HWY_EXPORT(weight_grad);

bool has_filters_conv(const ConvSizes& g) {
  return g.groups == 1 && g.K % 16 == 0 && (g.S == 3 || g.S == 5) && g.stride[2] == 1 &&
         g.dilation[2] == 1;
}

void filters_conv(const ConvSizes& g, float* y, const float* x, const float* w, const float* b) {
  HWY_DYNAMIC_DISPATCH(forward)(g, y, x, w, b);
}
void filters_conv_weight_grad(const ConvSizes& g, float* dw, const float* dy, const float* x) {
  HWY_DYNAMIC_DISPATCH(weight_grad)(g, dw, dy, x);
}

}  // namespace ambit::cpu
#endif
