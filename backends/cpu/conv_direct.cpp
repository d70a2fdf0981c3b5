#include "conv_direct.h"

#include "simd_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "conv_direct.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>

#include "parallel.h"
#include "scratch.h"
#include "tile-inl.h"

HWY_BEFORE_NAMESPACE();
namespace ambit::cpu::HWY_NAMESPACE {
namespace {

constexpr int64_t kRows = kTileRows;

int64_t round_up(int64_t n, int64_t unit) { return (n + unit - 1) / unit * unit; }

/// The grain for items of `work` multiply-adds.
int64_t grain_of(int64_t work) {
  return std::max<int64_t>(1, kProductGrain / std::max<int64_t>(1, work));
}

/// As many images as stay in the cache when packed.
template <class T>
int64_t images_at_once(const ConvGeometry& g) {
  constexpr int64_t kBytes = int64_t{4} << 20;
  return std::clamp<int64_t>(kBytes / (g.image() * static_cast<int64_t>(sizeof(T))), 1, g.N);
}

template <class T>
size_t packed_bytes(const ConvGeometry& g, int64_t images, int64_t slack) {
  return static_cast<size_t>(images * g.image() + slack) * sizeof(T);
}

template <class T>
void pack_images(const ConvGeometry& g, int64_t images, T* packed, const T* x) {
  parallel_for(images, grain_for(g.image()), [&](int64_t begin, int64_t end) {
    for (int64_t n = begin; n < end; ++n) {
      pack_image(g, packed + n * g.image(), x + n * g.C * g.H * g.W);
    }
  });
}

// --- forward: y[k][f] = sum over taps of w[k][tap] * packed[offset(tap) + f]

/// Strips of kRows filters: [groups][strips][taps][kRows], zero beyond the last filter.
template <class T>
void pack_weights(const ConvGeometry& g, T* packed, const T* w) {
  const int64_t strips = round_up(g.Kg, kRows) / kRows;
  for (int64_t i = 0; i < g.groups * strips; ++i) {
    const int64_t first = i % strips * kRows, count = std::min(kRows, g.Kg - first);
    const T* from = w + (i / strips * g.Kg + first) * g.taps();
    for (int64_t t = 0; t < g.taps(); ++t, packed += kRows) {
      for (int64_t k = 0; k < kRows; ++k) packed[k] = k < count ? from[k * g.taps() + t] : T(0);
    }
  }
}

/// N vectors of one strip of filters: sums [kRows][length].
template <class T, size_t N>
void convolve_tile(const ConvGeometry& g, T* sums, int64_t length, const T* packed, const T* w) {
  Tile<T, kTileRows, N> tile;
  for (const int64_t offset : g.offsets) {
    tile.add_product(w, packed + offset);
    w += kRows;
  }
  tile.store(sums, length);
}

/// One strip of filters on one image, `length` a multiple of the vector's.
template <class T>
void convolve_strip(const ConvGeometry& g, T* sums, int64_t length, const T* packed, const T* w) {
  using Full = Tile<T, kTileRows, kTileVectors>;
  int64_t f = 0;
  for (; f + Full::kWidth <= length; f += Full::kWidth) {
    convolve_tile<T, kTileVectors>(g, sums + f, length, packed + f, w);
  }
  for (; f < length; f += Full::kLanes) {
    convolve_tile<T, 1>(g, sums + f, length, packed + f, w);
  }
}

template <class T>
void forward(const ConvGeometry& g, T* y, const T* x, const T* w, const T* b) {
  constexpr int64_t kLanes = Tile<T, kTileRows, 1>::kLanes;
  const int64_t strips = round_up(g.Kg, kRows) / kRows, length = round_up(g.flat(), kLanes);
  const int64_t at_once = images_at_once<T>(g);
  const Scratch packed(packed_bytes<T>(g, at_once, kLanes));
  const Scratch weights(static_cast<size_t>(g.groups * strips * kRows * g.taps()) * sizeof(T));
  pack_weights(g, weights.data<T>(), w);
  const auto strip = [&](int64_t n, int64_t i, int64_t image, T* sums) {  // i: group and strip
    const int64_t group = i / strips, k = group * g.Kg + i % strips * kRows;
    convolve_strip(g, sums, length, packed.data<T>() + image * g.image() + group * g.Cg * g.channel,
                   weights.data<T>() + i * kRows * g.taps());
    const int64_t past = std::min(k + kRows, (group + 1) * g.Kg);
    T* to = y + (n * g.K + k) * g.P * g.Q;
    for (int64_t row = k; row < past; ++row, sums += length) {
      const T bias = b ? b[row] : T(0);
      for (int64_t p = 0; p < g.P; ++p, to += g.Q) {
        for (int64_t q = 0; q < g.Q; ++q) to[q] = sums[p * g.pitch + q] + bias;
      }
    }
  };
  for (int64_t first = 0; first < g.N; first += at_once) {
    const int64_t images = std::min(at_once, g.N - first);
    pack_images(g, images, packed.data<T>(), x + first * g.C * g.H * g.W);
    const int64_t per_image = g.groups * strips;
    parallel_for(images * per_image, grain_of(length * kRows * g.taps()),
                 [&](int64_t begin, int64_t end) {
                   const Scratch sums(static_cast<size_t>(kRows * length) * sizeof(T));
                   for (int64_t i = begin; i < end; ++i) {
                     const int64_t image = i / per_image;
                     strip(first + image, i % per_image, image, sums.data<T>());
                   }
                 });
  }
}

// --- input gradient: packed[offset(tap) + f] += sum over k of w[k][tap] * dy[k][f]

#if HWY_TARGET == HWY_AVX3
constexpr int64_t kFilters = 16;  // whose dy stay in registers
#else
constexpr int64_t kFilters = 8;
#endif
constexpr int64_t kTaps = 4;  // sums at a time

/// Blocks of kFilters filters: [groups][blocks][taps][kFilters], zero beyond the last. Here taps
/// run over channels first, so that what is added to one channel has arrived before its neighbour
/// is.
template <class T>
void pack_weights_by_tap(const ConvGeometry& g, T* packed, const T* w) {
  const int64_t blocks = round_up(g.Kg, kFilters) / kFilters, window = g.R * g.S;
  for (int64_t i = 0; i < g.groups * blocks; ++i) {
    const int64_t first = i % blocks * kFilters, count = std::min(kFilters, g.Kg - first);
    const T* from = w + (i / blocks * g.Kg + first) * g.taps();
    for (int64_t t = 0; t < round_up(g.taps(), kTaps); ++t, packed += kFilters) {
      const int64_t tap = t % g.Cg * window + t / g.Cg;
      for (int64_t k = 0; k < kFilters; ++k) {
        packed[k] = k < count && t < g.taps() ? from[k * g.taps() + tap] : T(0);
      }
    }
  }
}

/// Adds the share of one vector of output positions.
template <class T>
class Scatter {
 public:
  using D = hn::ScalableTag<T>;
  using V = hn::Vec<D>;
  static constexpr int64_t kLanes = hn::MaxLanes(D());

  /// dy [count planes of `plane` elements], `lanes` of a vector in use.
  HWY_INLINE Scatter(const T* dy, int64_t plane, int64_t count, int64_t lanes)
      : used_(hn::FirstN(D(), static_cast<size_t>(lanes))) {
    load(dy, plane, count, std::make_index_sequence<static_cast<size_t>(kFilters)>());
  }
  /// packed[offsets[i]...] += sum over k of w[i][k] * dy[k], for kTaps taps.
  HWY_INLINE void add(T* packed, const int64_t* offsets, const T* w) const {
    V sums[kTaps];
    clear(sums, Taps());
    multiply(sums, w, std::make_index_sequence<static_cast<size_t>(kTaps * kFilters)>());
    accumulate(packed, offsets, sums, Taps());
  }

 private:
  using Taps = std::make_index_sequence<static_cast<size_t>(kTaps)>;

  template <size_t... I>
  HWY_INLINE void load(const T* dy, int64_t plane, int64_t count, std::index_sequence<I...>) {
    ((slope_[I] = static_cast<int64_t>(I) < count
                      ? hn::MaskedLoad(used_, D(), dy + static_cast<int64_t>(I) * plane)
                      : hn::Zero(D())),
     ...);
  }
  template <size_t... I>
  HWY_INLINE void clear(V* sums, std::index_sequence<I...>) const {
    ((sums[I] = hn::Zero(D())), ...);
  }
  template <size_t... I>
  HWY_INLINE void multiply(V* sums, const T* w, std::index_sequence<I...>) const {
    ((sums[I % kTaps] = hn::MulAdd(hn::Set(D(), w[I % kTaps * kFilters + I / kTaps]),
                                   slope_[I / kTaps], sums[I % kTaps])),
     ...);
  }
  template <size_t... I>
  HWY_INLINE void accumulate(T* packed, const int64_t* offsets, const V* sums,
                             std::index_sequence<I...>) const {
    ((accumulate(packed + offsets[I], sums[I])), ...);
  }
  HWY_INLINE void accumulate(T* to, V sum) const {
    hn::BlendedStore(hn::Add(sum, hn::MaskedLoad(used_, D(), to)), used_, D(), to);
  }

  hn::Mask<D> used_;
  V slope_[kFilters];
};

/// One image: packed (zero before) gets the gradient.
template <class T>
void scatter_image(const ConvGeometry& g, T* packed, const T* dy, const T* w,
                   const std::vector<int64_t>& offsets) {
  const int64_t blocks = round_up(g.Kg, kFilters) / kFilters, plane = g.P * g.Q;
  for (int64_t i = 0; i < g.groups * blocks; ++i) {
    const int64_t group = i / blocks, first = i % blocks * kFilters;
    const T* slope = dy + (group * g.Kg + first) * plane;
    const T* weights = w + i * round_up(g.taps(), kTaps) * kFilters;
    T* to = packed + group * g.Cg * g.channel;
    for (int64_t p = 0; p < g.P; ++p) {
      for (int64_t q = 0; q < g.Q; q += Scatter<T>::kLanes) {
        const Scatter<T> scatter(slope + p * g.Q + q, plane, std::min(kFilters, g.Kg - first),
                                 std::min(Scatter<T>::kLanes, g.Q - q));
        for (int64_t t = 0; t < g.taps(); t += kTaps) {
          scatter.add(to + p * g.pitch + q, offsets.data() + t, weights + t * kFilters);
        }
      }
    }
  }
}

template <class T>
void input_grad(const ConvGeometry& g, T* dx, const T* dy, const T* w) {
  const int64_t blocks = round_up(g.Kg, kFilters) / kFilters, window = g.R * g.S;
  const Scratch weights(
      static_cast<size_t>(g.groups * blocks * round_up(g.taps(), kTaps) * kFilters) * sizeof(T));
  pack_weights_by_tap(g, weights.data<T>(), w);
  std::vector<int64_t> offsets;
  for (int64_t t = 0; t < g.taps(); ++t) {
    offsets.push_back(g.offsets[static_cast<size_t>(t % g.Cg * window + t / g.Cg)]);
  }
  // The weights of what fills the last tile are zero.
  offsets.resize(static_cast<size_t>(round_up(g.taps(), kTaps)), offsets.front());
  parallel_for(g.N, grain_of(g.work() / g.N), [&](int64_t begin, int64_t end) {
    const Scratch packed(packed_bytes<T>(g, 1, 0));
    for (int64_t n = begin; n < end; ++n) {
      std::fill_n(packed.data<T>(), g.image(), T(0));
      scatter_image(g, packed.data<T>(), dy + n * g.K * g.P * g.Q, weights.data<T>(), offsets);
      unpack_image(g, dx + n * g.C * g.H * g.W, packed.data<T>());
    }
  });
}

// --- weight gradient: dw[k][tap] = sum over images and f of dy[k][f] * packed[offset(tap) + f]

/// kRows filters by kTaps taps of sums, each a vector of partial sums.
template <class T>
class Correlation {
 public:
  using D = hn::ScalableTag<T>;
  using V = hn::Vec<D>;
  static constexpr int64_t kLanes = hn::MaxLanes(D());
  static constexpr size_t kSums = static_cast<size_t>(kRows * kTaps);

  HWY_INLINE Correlation() { clear(Sums()); }
  /// One image: dy [rows of P * Q], packed; the pointers of rows and taps that do not exist repeat
  /// others.
  HWY_INLINE void add(const ConvGeometry& g, const T* const* dy, const T* const* x) {
    const int64_t whole = g.Q / kLanes * kLanes;
    const auto rest = hn::FirstN(D(), static_cast<size_t>(g.Q - whole));
    for (int64_t p = 0; p < g.P; ++p) {
      const int64_t from = p * g.Q, at = p * g.pitch;
      for (int64_t q = 0; q < whole; q += kLanes) step<true>(dy, from + q, x, at + q, rest);
      if (whole < g.Q) step<false>(dy, from + whole, x, at + whole, rest);
    }
  }
  /// sums [kRows][kTaps].
  HWY_INLINE void store(T* sums) const { store(sums, Sums()); }

 private:
  using Sums = std::make_index_sequence<kSums>;

  template <size_t... I>
  HWY_INLINE void clear(std::index_sequence<I...>) {
    ((sums_[I] = hn::Zero(D())), ...);
  }
  template <size_t... I>
  HWY_INLINE void store(T* sums, std::index_sequence<I...>) const {
    ((sums[I] = hn::GetLane(hn::SumOfLanes(D(), sums_[I]))), ...);
  }
  template <bool kWhole, size_t... I>
  HWY_INLINE void load(V* to, const T* const* from, int64_t at, hn::Mask<D> used,
                       std::index_sequence<I...>) {
    ((to[I] = kWhole ? hn::LoadU(D(), from[I] + at) : hn::MaskedLoad(used, D(), from[I] + at)),
     ...);
  }
  template <size_t... I>
  HWY_INLINE void multiply(const V* slopes, const V* inputs, std::index_sequence<I...>) {
    ((sums_[I] = hn::MulAdd(slopes[I / kTaps], inputs[I % kTaps], sums_[I])), ...);
  }
  template <bool kWhole>
  HWY_INLINE void step(const T* const* dy, int64_t dy_at, const T* const* x, int64_t x_at,
                       hn::Mask<D> used) {
    V slopes[kRows], inputs[kTaps];
    load<kWhole>(slopes, dy, dy_at, used, std::make_index_sequence<static_cast<size_t>(kRows)>());
    load<kWhole>(inputs, x, x_at, used, std::make_index_sequence<static_cast<size_t>(kTaps)>());
    multiply(slopes, inputs, Sums());
  }

  V sums_[kSums];
};

/// A strip of filters of one group, all taps, over `images`; adds into dw.
template <class T>
void correlate_strip(const ConvGeometry& g, int64_t strip, int64_t images, T* dw, const T* dy,
                     const T* packed) {
  const int64_t strips = round_up(g.Kg, kRows) / kRows, group = strip / strips;
  const int64_t first = group * g.Kg + strip % strips * kRows;
  const int64_t count = std::min(kRows, (group + 1) * g.Kg - first);
  for (int64_t t = 0; t < g.taps(); t += kTaps) {
    const int64_t taps = std::min(kTaps, g.taps() - t);
    Correlation<T> correlation;
    for (int64_t n = 0; n < images; ++n) {
      const T *slopes[kRows], *inputs[kTaps];
      for (int64_t i = 0; i < kRows; ++i) {
        slopes[i] = dy + (n * g.K + first + std::min(i, count - 1)) * g.P * g.Q;
      }
      for (int64_t i = 0; i < kTaps; ++i) {
        inputs[i] = packed + n * g.image() + group * g.Cg * g.channel +
                    g.offsets[static_cast<size_t>(t + std::min(i, taps - 1))];
      }
      correlation.add(g, slopes, inputs);
    }
    T sums[kRows * kTaps];
    correlation.store(sums);
    for (int64_t i = 0; i < count; ++i) {
      T* to = dw + (first + i) * g.taps() + t;
      for (int64_t j = 0; j < taps; ++j) to[j] += sums[i * kTaps + j];
    }
  }
}

template <class T>
void weight_grad(const ConvGeometry& g, T* dw, const T* dy, const T* x) {
  const int64_t strips = g.groups * (round_up(g.Kg, kRows) / kRows);
  const int64_t at_once = images_at_once<T>(g);
  const Scratch packed(packed_bytes<T>(g, at_once, 0));
  std::fill_n(dw, g.K * g.taps(), T(0));
  for (int64_t first = 0; first < g.N; first += at_once) {
    const int64_t images = std::min(at_once, g.N - first);
    pack_images(g, images, packed.data<T>(), x + first * g.C * g.H * g.W);
    parallel_for(
        strips, grain_of(images * g.P * g.Q * g.taps() * kRows), [&](int64_t begin, int64_t end) {
          for (int64_t i = begin; i < end; ++i) {
            correlate_strip(g, i, images, dw, dy + first * g.K * g.P * g.Q, packed.data<T>());
          }
        });
  }
}

// Highway exports plain functions, hence one for each type.
void forward_float(const ConvGeometry& g, float* y, const float* x, const float* w,
                   const float* b) {
  forward(g, y, x, w, b);
}
void forward_double(const ConvGeometry& g, double* y, const double* x, const double* w,
                    const double* b) {
  forward(g, y, x, w, b);
}
void input_grad_float(const ConvGeometry& g, float* dx, const float* dy, const float* w) {
  input_grad(g, dx, dy, w);
}
void input_grad_double(const ConvGeometry& g, double* dx, const double* dy, const double* w) {
  input_grad(g, dx, dy, w);
}
void weight_grad_float(const ConvGeometry& g, float* dw, const float* dy, const float* x) {
  weight_grad(g, dw, dy, x);
}
void weight_grad_double(const ConvGeometry& g, double* dw, const double* dy, const double* x) {
  weight_grad(g, dw, dy, x);
}

}  // namespace
}  // namespace ambit::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ambit::cpu {

#define AMBIT_CONV(T)                                                                   \
  HWY_EXPORT(forward_##T);                                                              \
  HWY_EXPORT(input_grad_##T);                                                           \
  HWY_EXPORT(weight_grad_##T);                                                          \
  template <>                                                                           \
  void direct_conv(const ConvGeometry& g, T* y, const T* x, const T* w, const T* b) {   \
    HWY_DYNAMIC_DISPATCH(forward_##T)(g, y, x, w, b);                                   \
  }                                                                                     \
  template <>                                                                           \
  void direct_conv_input_grad(const ConvGeometry& g, T* dx, const T* dy, const T* w) {  \
    HWY_DYNAMIC_DISPATCH(input_grad_##T)(g, dx, dy, w);                                 \
  }                                                                                     \
  template <>                                                                           \
  void direct_conv_weight_grad(const ConvGeometry& g, T* dw, const T* dy, const T* x) { \
    HWY_DYNAMIC_DISPATCH(weight_grad_##T)(g, dw, dy, x);                                \
  }
AMBIT_CONV(float)
AMBIT_CONV(double)
#undef AMBIT_CONV

}  // namespace ambit::cpu
#endif
