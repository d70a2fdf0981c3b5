// packed[offset(tap) + f] += sum over k of w[k][tap] * dy[k][f]: for each vector of f, the dy of
// some filters stay in registers while all taps are processed.
#include "conv_direct.h"

#include "backends/cpu/runtime/simd_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/conv/conv_direct_input_grad.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>

#include "backends/cpu/layout/channels_last.h"
#include "backends/cpu/runtime/parallel.h"
#include "backends/cpu/runtime/scratch.h"
#include "conv_packing.h"

HWY_BEFORE_NAMESPACE();
namespace ambit::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;
namespace {

#if HWY_TARGET == HWY_AVX3
constexpr int64_t kFilters = 16;  // filters whose dy stay in registers
#else
constexpr int64_t kFilters = 8;
#endif
constexpr int64_t kTaps = 4;  // taps whose sums are computed at a time

/// Blocks of kFilters filters: [groups][blocks][taps][kFilters], zero beyond the last. Here taps
/// run over channels first, so that a sum is stored before the next tap of the same channel loads
/// overlapping elements.
template <class T>
void pack_weights_by_tap(const ConvSizes& g, T* packed, const T* w) {
  const int64_t blocks = ceil_div(g.Kg, kFilters), window = g.T * g.R * g.S;
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

/// Adds the contribution of one vector of output positions.
template <class T>
class Scatter {
 public:
  using D = hn::ScalableTag<T>;
  using V = hn::Vec<D>;
  static constexpr int64_t kLanes = hn::MaxLanes(D());

  /// dy [count][plane]; only `lanes` lanes of a vector are used.
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

/// Add the gradient of one image to packed, which is zero before.
template <class T>
void scatter_image(const ConvPacking& packing, T* packed, const T* dy, const T* w,
                   const std::vector<int64_t>& offsets) {
  const ConvSizes& g = packing.sizes;
  const int64_t blocks = ceil_div(g.Kg, kFilters), plane = g.y_plane();
  for (int64_t i = 0; i < g.groups * blocks; ++i) {
    const int64_t group = i / blocks, first = i % blocks * kFilters;
    const T* grad = dy + (group * g.Kg + first) * plane;
    const T* weights = w + i * round_up(g.taps(), kTaps) * kFilters;
    T* to = packed + group * g.Cg * packing.channel;
    for (int64_t row = 0; row < g.O * g.P; ++row) {
      const int64_t at = row / g.P * packing.plane + row % g.P * packing.pitch;
      for (int64_t q = 0; q < g.Q; q += Scatter<T>::kLanes) {
        const Scatter<T> scatter(grad + row * g.Q + q, plane, std::min(kFilters, g.Kg - first),
                                 std::min(Scatter<T>::kLanes, g.Q - q));
        for (int64_t t = 0; t < g.taps(); t += kTaps) {
          scatter.add(to + at + q, offsets.data() + t, weights + t * kFilters);
        }
      }
    }
  }
}

template <class T>
void input_grad(const ConvSizes& g, T* dx, const T* dy, bool channels_last, const T* w) {
  const ConvPacking packing(g);
  const int64_t blocks = ceil_div(g.Kg, kFilters), window = g.T * g.R * g.S;
  const Scratch weights(
      static_cast<size_t>(g.groups * blocks * round_up(g.taps(), kTaps) * kFilters) * sizeof(T));
  pack_weights_by_tap(g, weights.data<T>(), w);
  std::vector<int64_t> offsets;
  for (int64_t t = 0; t < g.taps(); ++t) {
    offsets.push_back(packing.offsets[static_cast<size_t>(t % g.Cg * window + t / g.Cg)]);
  }
  // The last tile is padded with weights of zero. Their products with gradients that are infinite
  // or NaN are NaN, so that they are added to an area of their own after the image.
  offsets.resize(static_cast<size_t>(round_up(g.taps(), kTaps)), packing.image());
  const int64_t past_image = (g.C - g.Cg) * packing.channel + packing.flat();
  parallel_for(g.N, grain_for_taps(g.N, g.work() / g.N), [&](int64_t begin, int64_t end) {
    // The buffer is one vector longer: without masked stores a partial store rewrites the elements
    // after it.
    const Scratch packed(static_cast<size_t>(packing.image() + past_image + Scatter<T>::kLanes) *
                         sizeof(T));
    std::fill_n(packed.data<T>() + packing.image(), past_image, T(0));
    const int64_t one = g.K * g.y_plane();
    const Scratch row_major(channels_last ? static_cast<size_t>(one) * sizeof(T) : 0);
    for (int64_t n = begin; n < end; ++n) {
      const T* grad_output = dy + n * one;
      if (channels_last) {
        channels_last_to_row_major(row_major.data(), grad_output,
                                   channels_last_layout(dtype_of<T>, 1, g.K, g.y_plane()));
        grad_output = row_major.data<T>();
      }
      std::fill_n(packed.data<T>(), packing.image(), T(0));
      scatter_image(packing, packed.data<T>(), grad_output, weights.data<T>(), offsets);
      unpack_image(packing, dx + n * g.C * g.x_plane(), packed.data<T>());
    }
  });
}

// Highway exports plain functions, hence one for each type.
auto find_float() { return input_grad<float>; }
auto find_double() { return input_grad<double>; }

}  // namespace
}  // namespace ambit::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ambit::cpu {

HWY_EXPORT(find_float);
HWY_EXPORT(find_double);

template <>
void direct_conv_input_grad(const ConvSizes& g, float* dx, const float* dy, bool channels_last,
                            const float* w) {
  HWY_DYNAMIC_DISPATCH(find_float)()(g, dx, dy, channels_last, w);
}
template <>
void direct_conv_input_grad(const ConvSizes& g, double* dx, const double* dy, bool channels_last,
                            const double* w) {
  HWY_DYNAMIC_DISPATCH(find_double)()(g, dx, dy, channels_last, w);
}

}  // namespace ambit::cpu
#endif
