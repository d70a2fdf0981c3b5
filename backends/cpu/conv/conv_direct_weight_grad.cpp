// dw[k][tap] = sum over images and f of dy[k][f] * packed[offset(tap) + f], in vectors of partial
// sums.
#include "conv_direct.h"

#include "backends/cpu/runtime/simd_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/conv/conv_direct_weight_grad.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>

#include "backends/cpu/runtime/parallel.h"
#include "backends/cpu/runtime/scratch.h"
#include "conv_packing.h"

HWY_BEFORE_NAMESPACE();
namespace ambit::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;
namespace {

constexpr int64_t kRows = 6, kTaps = 4;  // of sums at a time, one vector each

/// kRows filters by kTaps taps of sums, each a vector of partial sums.
template <class T>
class Correlation {
 public:
  using D = hn::ScalableTag<T>;
  using V = hn::Vec<D>;
  static constexpr int64_t kLanes = hn::MaxLanes(D());
  static constexpr size_t kSums = static_cast<size_t>(kRows * kTaps);

  HWY_INLINE Correlation() { clear(Sums()); }
  /// One image: dy [rows of O * P * Q], packed; the pointers of rows and taps that do not exist
  /// repeat others.
  HWY_INLINE void add(const ConvPacking& packing, const T* const* dy, const T* const* x) {
    const ConvSizes& g = packing.sizes;
    const int64_t whole = g.Q / kLanes * kLanes;
    const auto rest = hn::FirstN(D(), static_cast<size_t>(g.Q - whole));
    for (int64_t row = 0; row < g.O * g.P; ++row) {
      const int64_t from = row * g.Q, at = row / g.P * packing.plane + row % g.P * packing.pitch;
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

/// kTaps taps from t on of a strip of filters of one group, over `images`; adds into dw.
template <class T>
void correlate_strip(const ConvPacking& packing, int64_t strip, int64_t t, int64_t images, T* dw,
                     const T* dy, const T* packed) {
  const ConvSizes& g = packing.sizes;
  const int64_t strips = ceil_div(g.Kg, kRows), group = strip / strips;
  const int64_t first = group * g.Kg + strip % strips * kRows;
  const int64_t count = std::min(kRows, (group + 1) * g.Kg - first);
  const int64_t taps = std::min(kTaps, g.taps() - t);
  Correlation<T> correlation;
  for (int64_t n = 0; n < images; ++n) {
    const T *slopes[kRows], *inputs[kTaps];
    for (int64_t i = 0; i < kRows; ++i) {
      slopes[i] = dy + (n * g.K + first + std::min(i, count - 1)) * g.y_plane();
    }
    for (int64_t i = 0; i < kTaps; ++i) {
      inputs[i] = packed + n * packing.image() + group * g.Cg * packing.channel +
                  packing.offsets[static_cast<size_t>(t + std::min(i, taps - 1))];
    }
    correlation.add(packing, slopes, inputs);
  }
  T sums[kRows * kTaps];
  correlation.store(sums);
  for (int64_t i = 0; i < count; ++i) {
    T* to = dw + (first + i) * g.taps() + t;
    for (int64_t j = 0; j < taps; ++j) to[j] += sums[i * kTaps + j];
  }
}

template <class T>
void weight_grad(const ConvSizes& g, T* dw, const T* dy, const T* x) {
  const ConvPacking packing(g);
  const int64_t strips = g.groups * ceil_div(g.Kg, kRows), tap_groups = ceil_div(g.taps(), kTaps);
  const int64_t at_once = packing.images_at_once(sizeof(T));
  const Scratch packed(static_cast<size_t>(at_once * packing.image()) * sizeof(T));
  std::fill_n(dw, g.K * g.taps(), T(0));
  for (int64_t first = 0; first < g.N; first += at_once) {
    const int64_t images = std::min(at_once, g.N - first);
    pack_images(packing, images, packed.data<T>(), x + first * g.C * g.x_plane());
    parallel_for(strips * tap_groups, grain_for_products(images * g.y_plane() * kTaps * kRows),
                 [&](int64_t begin, int64_t end) {
                   for (int64_t i = begin; i < end; ++i) {
                     correlate_strip(packing, i / tap_groups, i % tap_groups * kTaps, images, dw,
                                     dy + first * g.K * g.y_plane(), packed.data<T>());
                   }
                 });
  }
}

// Highway exports plain functions, hence one for each type.
auto find_float() { return weight_grad<float>; }
auto find_double() { return weight_grad<double>; }

}  // namespace
}  // namespace ambit::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ambit::cpu {

HWY_EXPORT(find_float);
HWY_EXPORT(find_double);

template <>
void direct_conv_weight_grad(const ConvSizes& g, float* dw, const float* dy, const float* x) {
  HWY_DYNAMIC_DISPATCH(find_float)()(g, dw, dy, x);
}
template <>
void direct_conv_weight_grad(const ConvSizes& g, double* dw, const double* dy, const double* x) {
  HWY_DYNAMIC_DISPATCH(find_double)()(g, dw, dy, x);
}

}  // namespace ambit::cpu
#endif
