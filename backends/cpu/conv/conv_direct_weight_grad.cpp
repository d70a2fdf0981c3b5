// dw[k][tap] = sum over images and f of dy[k][f] * packed[offset(tap) + f], in vectors of partial
// sums. Most loads of packed images cross a cache line; dy is aligned so that its loads do not.
#include "conv_direct.h"

#include "backends/cpu/runtime/simd_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/conv/conv_direct_weight_grad.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>
#include <vector>

#include "backends/cpu/runtime/parallel.h"
#include "backends/cpu/runtime/scratch.h"
#include "conv_packing.h"

HWY_BEFORE_NAMESPACE();
namespace ambit::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;
namespace {

// Block size in vectors of sums: as many as fit in registers together with kTaps vectors of x and
// one of dy.
constexpr bool kHasFewRegisters = HWY_ARCH_X86 && HWY_TARGET != HWY_AVX3;
constexpr int64_t kRows = 6, kTaps = kHasFewRegisters ? 2 : 4;

/// kRows filters by kTaps taps of sums, each a vector of partial sums.
template <class T>
class Correlation {
 public:
  using D = hn::ScalableTag<T>;
  using V = hn::Vec<D>;
  static constexpr int64_t kLanes = hn::MaxLanes(D());
  static constexpr size_t kSums = static_cast<size_t>(kRows * kTaps);

  /// Resume from sums that save() stored.
  HWY_INLINE explicit Correlation(const T* saved) { resume(saved, Sums()); }
  /// Add one image: dy [kRows][O * P rows of Q, dy_pitch apart], packed x; pointers of nonexistent
  /// filters and taps repeat existing ones.
  HWY_INLINE void add(const ConvPacking& packing, const T* const* dy, int64_t dy_pitch,
                      const T* const* x) {
    const ConvSizes& g = packing.sizes;
    const int64_t whole = g.Q / kLanes * kLanes;
    const auto rest = hn::FirstN(D(), static_cast<size_t>(g.Q - whole));
    const T *grads[kRows],
        *inputs[kTaps];  // pointers to one row; copies, so that they stay in registers
    std::copy_n(dy, kRows, grads);
    std::copy_n(x, kTaps, inputs);
    for (int64_t o = 0; o < g.O; ++o) {
      for (int64_t p = 0; p < g.P; ++p) {
        for (int64_t q = 0; q < whole; q += kLanes) step<true>(grads, inputs, q, rest);
        if (whole < g.Q) step<false>(grads, inputs, whole, rest);
        move(grads, dy_pitch, Rows());
        move(inputs, packing.pitch, Taps());
      }
      move(inputs, packing.plane - g.P * packing.pitch, Taps());
    }
  }
  /// saved [kSums][kLanes].
  HWY_INLINE void save(T* saved) const { save(saved, Sums()); }

 private:
  using Sums = std::make_index_sequence<kSums>;
  using Rows = std::make_index_sequence<static_cast<size_t>(kRows)>;
  using Taps = std::make_index_sequence<static_cast<size_t>(kTaps)>;

  template <size_t... I>
  HWY_INLINE void resume(const T* saved, std::index_sequence<I...>) {
    ((sums_[I] = hn::LoadU(D(), saved + I * kLanes)), ...);
  }
  template <size_t... I>
  HWY_INLINE void save(T* saved, std::index_sequence<I...>) const {
    ((hn::StoreU(sums_[I], D(), saved + I * kLanes)), ...);
  }
  template <bool kWhole>
  static HWY_INLINE V load(const T* from, hn::Mask<D> used) {
    return kWhole ? hn::LoadU(D(), from) : hn::MaskedLoad(used, D(), from);
  }
  template <size_t... I>
  static HWY_INLINE void move(const T** pointers, int64_t by, std::index_sequence<I...>) {
    ((pointers[I] += by), ...);
  }
  template <bool kWhole>
  HWY_INLINE void step(const T* const* dy, const T* const* x, int64_t at, hn::Mask<D> used) {
    step<kWhole>(dy, x, at, used, Rows(), Taps());
  }
  // Process one filter after the other, so that only one vector of dy occupies a register.
  template <bool kWhole, size_t... K, size_t... J>
  HWY_INLINE void step(const T* const* dy, const T* const* x, int64_t at, hn::Mask<D> used,
                       std::index_sequence<K...>, std::index_sequence<J...>) {
    const V inputs[] = {load<kWhole>(x[J] + at, used)...};
    ((add_row<K>(load<kWhole>(dy[K] + at, used), inputs, Taps())), ...);
  }
  template <size_t K, size_t... J>
  HWY_INLINE void add_row(V grad, const V* inputs, std::index_sequence<J...>) {
    ((sums_[K * kTaps + J] = hn::MulAdd(grad, inputs[J], sums_[K * kTaps + J])), ...);
  }

  V sums_[kSums];
};

/// The operands of a block of sums: kTaps taps of a strip of filters of one group.
struct Place {
  Place(const ConvSizes& g, int64_t i)
      : group(i / ceil_div(g.taps(), kTaps) / ceil_div(g.Kg, kRows)),
        filter(group * g.Kg + i / ceil_div(g.taps(), kTaps) % ceil_div(g.Kg, kRows) * kRows),
        filters(std::min(kRows, (group + 1) * g.Kg - filter)),
        tap(i % ceil_div(g.taps(), kTaps) * kTaps),
        taps(std::min(kTaps, g.taps() - tap)) {}
  static int64_t count(const ConvSizes& g) {
    return g.groups * ceil_div(g.Kg, kRows) * ceil_div(g.taps(), kTaps);
  }

  int64_t group;
  int64_t filter, filters;  // the first one, and the number
  int64_t tap, taps;
};

/// Add the contribution of images [begin, end).
template <class T>
void correlate(const ConvPacking& packing, const Place& place, T* saved, const AlignedRows<T>& dy,
               const PackedImages<T>& x, int64_t begin, int64_t end) {
  const ConvSizes& g = packing.sizes;
  Correlation<T> correlation(saved);
  for (int64_t n = begin; n < end; ++n) {
    const T *grads[kRows], *inputs[kTaps];
    for (int64_t i = 0; i < kRows; ++i) {
      grads[i] = dy.filter(n, place.filter + std::min(i, place.filters - 1));
    }
    for (int64_t i = 0; i < kTaps; ++i) {
      inputs[i] = x.image(n) + place.group * g.Cg * packing.channel +
                  packing.offsets[static_cast<size_t>(place.tap + std::min(i, place.taps - 1))];
    }
    correlation.add(packing, grads, dy.pitch(), inputs);
  }
  correlation.save(saved);
}

/// Add the sums over the lanes of saved vectors to dw [K,taps].
template <class T>
void add_sums(const ConvSizes& g, const Place& place, T* dw, const T* saved) {
  using C = Correlation<T>;
  for (int64_t i = 0; i < place.filters; ++i) {
    T* to = dw + (place.filter + i) * g.taps() + place.tap;
    for (int64_t j = 0; j < place.taps; ++j) {
      const auto lanes = hn::LoadU(typename C::D(), saved + (i * kTaps + j) * C::kLanes);
      to[j] += hn::GetLane(hn::SumOfLanes(typename C::D(), lanes));
    }
  }
}

/// Each thread processes all its blocks of sums for a few images, as many as fit in the L1 cache,
/// before the next images.
template <class T>
void weight_grad(const ConvSizes& g, T* dw, const T* dy, const T* x) {
  constexpr int64_t kSaved = static_cast<int64_t>(Correlation<T>::kSums) * Correlation<T>::kLanes;
  constexpr int64_t kNear = int64_t{32} << 10;
  const ConvPacking packing(g);
  const int64_t at_once = packing.images_at_once(sizeof(T));
  const int64_t near = std::max<int64_t>(
      1, kNear / ((packing.image() + g.K * g.y_plane()) * static_cast<int64_t>(sizeof(T))));
  PackedImages<T> packed(packing, x, at_once);
  const PartSums<T> sums(g, dw, g.K * g.taps());
  const auto take = [&](T* of_part, int64_t first, int64_t past, int64_t begin, int64_t end) {
    std::vector<Place> places;
    for (int64_t i = begin; i < end; ++i) places.emplace_back(g, i);
    const Scratch all_saved(places.size() * kSaved * sizeof(T));
    std::fill_n(all_saved.data<T>(), places.size() * kSaved, T(0));
    const int64_t times = std::ssize(places) / (g.groups * ceil_div(g.Kg, kRows));
    AlignedRows<T> rows(g, dy, Correlation<T>::kLanes, std::min(near, past - first), times);
    for (int64_t n = first; n < past; n += near) {
      const int64_t n_past = std::min(n + near, past);
      rows.take(n, n_past);
      T* saved = all_saved.data<T>();
      for (const Place& place : places) {
        correlate(packing, place, saved, rows, packed, n, n_past);
        saved += kSaved;
      }
    }
    const T* saved = all_saved.data<T>();
    for (const Place& place : places) {
      add_sums(g, place, of_part, saved);
      saved += kSaved;
    }
  };
  for (int64_t first = 0; first < g.N; first += at_once) {
    const int64_t past = std::min(g.N, first + at_once);
    packed.take(first, past);
    sums.for_items(first, past, Place::count(g), g.y_plane() * kTaps * kRows, take);
  }
  sums.finish();
}

// HWY_EXPORT needs plain functions, hence one for each type.
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
