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

// Positions are as wide as the values, so that one mask fits both.
const hn::ScalableTag<float> kValues;
const hn::RebindToSigned<decltype(kValues)> kPositions;
constexpr int64_t kLanes = hn::MaxLanes(kValues);

/// Some channels: load(p) gives them as a vector from p on.
template <class Load>
HWY_INLINE void max_of_taps(int64_t channels, const float* x, Taps taps, float* values,
                            int32_t* positions, const Load& load) {
  auto best = load(x + taps[0] * channels);
  auto at = hn::Set(kPositions, taps[0]);
  for (const int32_t tap : taps.subspan(1)) {
    const auto in = load(x + tap * channels);
    const auto better = hn::Or(hn::Gt(in, best), hn::IsNaN(in));
    best = hn::IfThenElse(better, in, best);
    at = hn::IfThenElse(hn::RebindMask(kPositions, better), hn::Set(kPositions, tap), at);
  }
  hn::StoreU(best, kValues, values);
  hn::StoreU(at, kPositions, positions);
}

void max_window(int64_t channels, float* y, int32_t* index, const float* x, Taps taps) {
  int64_t c = 0;
  for (; c + kLanes <= channels; c += kLanes) {
    max_of_taps(channels, x + c, taps, y + c, index + c,
                [](const float* p) HWY_ATTR { return hn::LoadU(kValues, p); });
  }
  if (c == channels) return;
  const int64_t rest = channels - c;
  HWY_ALIGN float values[kLanes];
  HWY_ALIGN int32_t at[kLanes];
  max_of_taps(channels, x + c, taps, values, at,
              [rest](const float* p) HWY_ATTR { return load(kValues, p, rest); });
  std::copy_n(values, rest, y + c);
  std::copy_n(at, rest, index + c);
}

void max_window_grad(int64_t channels, float* dx, const float* dy, const int32_t* index,
                     Taps taps) {
  for (int64_t c = 0; c < channels; c += kLanes) {
    const int64_t n = std::min(kLanes, channels - c);
    HWY_ALIGN int32_t at[kLanes];
    HWY_ALIGN float values[kLanes];
    std::copy_n(index + c, n, at);
    std::copy_n(dy + c, n, values);
    const auto grad = hn::Load(kValues, values);
    const auto positions = hn::Load(kPositions, at);
    for (const int32_t tap : taps) {
      const auto mine = hn::Eq(positions, hn::Set(kPositions, tap));
      store(hn::IfThenElseZero(hn::RebindMask(kValues, mine), grad), kValues,
            dx + tap * channels + c, n);
    }
  }
}

MaxWindow find_max() { return max_window; }
MaxWindowGrad find_grad() { return max_window_grad; }

}  // namespace
}  // namespace ambit::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ambit::cpu {

HWY_EXPORT(find_max);
HWY_EXPORT(find_grad);

MaxWindow max_window() { return HWY_DYNAMIC_DISPATCH(find_max)(); }
MaxWindowGrad max_window_grad() { return HWY_DYNAMIC_DISPATCH(find_grad)(); }

}  // namespace ambit::cpu
#endif
