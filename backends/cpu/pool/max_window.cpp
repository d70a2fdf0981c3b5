#include "max_window.h"

#include <algorithm>

#include "backends/cpu/runtime/simd_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/pool/max_window.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "backends/cpu/elementwise/inner_loops-inl.h"

HWY_BEFORE_NAMESPACE();
namespace ambit::cpu::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

// Positions are as wide as values, so that one mask suits both.
const hn::ScalableTag<float> kValues;
const hn::RebindToSigned<decltype(kValues)> kPositions;
constexpr int64_t kLanes = hn::MaxLanes(kValues);

/// Channels in memory that are loaded as float32 vectors.
struct Floats {
  using Element = float;
  static HWY_INLINE auto load(const float* p) { return hn::LoadU(kValues, p); }
  static HWY_INLINE auto load(const float* p, int64_t n) {
    return HWY_NAMESPACE::load(kValues, p, n);
  }
  template <class V>
  static HWY_INLINE void store(V v, float* p, int64_t n) {
    HWY_NAMESPACE::store(v, kValues, p, n);
  }
};

/// bfloat16 is the upper half of float32; only loaded values are stored, so no rounding is needed.
struct BFloat16s {
  using Element = BFloat16;
  static HWY_INLINE auto load(const BFloat16* p, int64_t n) {
    const auto bits = HWY_NAMESPACE::load(kHalves, reinterpret_cast<const uint16_t*>(p), n);
    return hn::BitCast(kValues, hn::ShiftLeft<16>(hn::PromoteTo(kWords, bits)));
  }
  static HWY_INLINE auto load(const BFloat16* p) { return load(p, kLanes); }
  template <class V>
  static HWY_INLINE void store(V v, BFloat16* p, int64_t n) {
    const auto bits = hn::ShiftRight<16>(hn::BitCast(kWords, v));
    HWY_NAMESPACE::store(hn::DemoteTo(kHalves, hn::BitCast(kPositions, bits)), kHalves,
                         reinterpret_cast<uint16_t*>(p), n);
  }

 private:
  static constexpr hn::RebindToUnsigned<decltype(kValues)> kWords{};
  static constexpr hn::Rebind<uint16_t, decltype(kValues)> kHalves{};
};

/// Compute n channels, at most one vector; load(p) loads them from p.
template <class Channels, class Load>
HWY_INLINE void max_of_taps(int64_t n, int64_t channels, const typename Channels::Element* x,
                            Taps taps, typename Channels::Element* y, int32_t* index,
                            const Load& load) {
  auto best = load(x + taps[0] * channels);
  auto at = hn::Set(kPositions, taps[0]);
  for (const int32_t tap : taps.subspan(1)) {
    const auto in = load(x + tap * channels);
    const auto better = hn::Or(hn::Gt(in, best), hn::IsNaN(in));
    best = hn::IfThenElse(better, in, best);
    at = hn::IfThenElse(hn::RebindMask(kPositions, better), hn::Set(kPositions, tap), at);
  }
  Channels::store(best, y, n);
  store(at, kPositions, index, n);
}

template <class Channels, class T = typename Channels::Element>
void max_window(int64_t channels, T* y, int32_t* index, const T* x, Taps taps) {
  int64_t c = 0;
  for (; c + kLanes <= channels; c += kLanes) {
    max_of_taps<Channels>(kLanes, channels, x + c, taps, y + c, index + c,
                          [](const T* p) HWY_ATTR { return Channels::load(p); });
  }
  if (c == channels) return;
  const int64_t rest = channels - c;
  max_of_taps<Channels>(rest, channels, x + c, taps, y + c, index + c,
                        [rest](const T* p) HWY_ATTR { return Channels::load(p, rest); });
}

template <class Channels, class T = typename Channels::Element>
void max_window_grad(int64_t channels, T* dx, const T* dy, const int32_t* index, Taps taps) {
  for (int64_t c = 0; c < channels; c += kLanes) {
    const int64_t n = std::min(kLanes, channels - c);
    const auto grad = Channels::load(dy + c, n);
    const auto positions = load(kPositions, index + c, n);
    for (const int32_t tap : taps) {
      const auto mine = hn::Eq(positions, hn::Set(kPositions, tap));
      Channels::store(hn::IfThenElseZero(hn::RebindMask(kValues, mine), grad),
                      dx + tap * channels + c, n);
    }
  }
}

uint32_t largest_position(int64_t n, const int32_t* index) {
  constexpr hn::RebindToUnsigned<decltype(kPositions)> kUnsigned;
  auto largest = hn::Zero(kUnsigned);
  for (int64_t i = 0; i < n; i += kLanes) {
    const auto some =
        i + kLanes <= n ? hn::LoadU(kPositions, index + i) : load(kPositions, index + i, n - i);
    largest = hn::Max(largest, hn::BitCast(kUnsigned, some));
  }
  return hn::GetLane(hn::MaxOfLanes(kUnsigned, largest));
}

MaxWindow<float> find_max() { return max_window<Floats>; }
MaxWindowGrad<float> find_grad() { return max_window_grad<Floats>; }
MaxWindow<BFloat16> find_bfloat16_max() { return max_window<BFloat16s>; }
MaxWindowGrad<BFloat16> find_bfloat16_grad() { return max_window_grad<BFloat16s>; }

}  // namespace
}  // namespace ambit::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ambit::cpu {

HWY_EXPORT(find_max);
HWY_EXPORT(find_grad);
HWY_EXPORT(find_bfloat16_max);
HWY_EXPORT(find_bfloat16_grad);
HWY_EXPORT(largest_position);

uint32_t largest_position(int64_t n, const int32_t* index) {
  return HWY_DYNAMIC_DISPATCH(largest_position)(n, index);
}

template <>
MaxWindow<float> max_window() {
  return HWY_DYNAMIC_DISPATCH(find_max)();
}
template <>
MaxWindowGrad<float> max_window_grad() {
  return HWY_DYNAMIC_DISPATCH(find_grad)();
}
template <>
MaxWindow<BFloat16> max_window() {
  return HWY_DYNAMIC_DISPATCH(find_bfloat16_max)();
}
template <>
MaxWindowGrad<BFloat16> max_window_grad() {
  return HWY_DYNAMIC_DISPATCH(find_bfloat16_grad)();
}

}  // namespace ambit::cpu
#endif
