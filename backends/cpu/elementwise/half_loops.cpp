// Conversions between float32 and reduced floating-point types, with the same bits as Binary16 on
// every instruction set. float16 uses Fabian Giesen's float_to_half_fast3_rtne (public domain,
// https://gist.github.com/rygorous/2156668).
#include "half_loops.h"

#include "backends/cpu/runtime/simd_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/elementwise/half_loops.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "inner_loops-inl.h"

HWY_BEFORE_NAMESPACE();
namespace ambit::cpu::HWY_NAMESPACE {
namespace {

using Floats = hn::ScalableTag<float>;
using Words = hn::RebindToUnsigned<Floats>;
using Halves = hn::Rebind<uint16_t, Floats>;
using V = hn::Vec<Words>;

constexpr uint32_t kInfinity = 0x7f800000, kQuiet = 0x400000;

/// Convert the bits of a reduced floating-point type, zero-extended, to those of float32.
template <DType dtype>
HWY_INLINE V upcast(V x) {
  if constexpr (dtype == kBFloat16) return hn::ShiftLeft<16>(x);
  const Words d;
  const Floats df;
  const V magnitude = hn::ShiftLeft<13>(hn::And(x, hn::Set(d, 0x7fff)));
  const V infinite = hn::Set(d, 0x7c00 << 13), least = hn::Set(d, 1 << 23);
  const V rebased = hn::Add(magnitude, hn::Set(d, 112 << 23));
  // Subnormals: add 2^-14, which makes the number normal, and subtract it again.
  const V shifted = hn::Set(d, 113 << 23);
  const V small = hn::BitCast(
      d, hn::Sub(hn::BitCast(df, hn::Add(magnitude, shifted)), hn::BitCast(df, shifted)));
  V y = hn::IfThenElse(hn::Lt(magnitude, least), small, rebased);
  const V not_finite = hn::Or(magnitude, hn::Set(d, kInfinity));
  y = hn::IfThenElse(hn::Lt(magnitude, infinite), y, not_finite);
  y = hn::IfThenElse(hn::Gt(magnitude, infinite), hn::Or(y, hn::Set(d, kQuiet)), y);
  return hn::Or(y, hn::ShiftLeft<16>(hn::And(x, hn::Set(d, 0x8000))));
}

/// Return (x + base) >> kDropped, rounded to nearest even.
template <int kDropped>
HWY_INLINE V rounded(V x, uint32_t base) {
  const Words d;
  const V odd = hn::And(hn::ShiftRight<kDropped>(x), hn::Set(d, 1));
  const V half = hn::Set(d, base + (1u << (kDropped - 1)) - 1);
  return hn::ShiftRight<kDropped>(hn::Add(hn::Add(x, half), odd));
}

template <DType dtype>
HWY_INLINE V downcast(V x) {
  constexpr int kDropped = dtype == kBFloat16 ? 16 : 13;
  constexpr uint32_t kNaN = dtype == kBFloat16 ? 0x7fc0 : 0x7e00;
  const Words d;
  const Floats df;
  const V magnitude = hn::And(x, hn::Set(d, 0x7fffffff));
  V y;
  if constexpr (dtype == kBFloat16) {
    y = rounded<16>(magnitude, 0);
  } else {
    y = rounded<13>(magnitude, 0u - (112u << 23));
    // Adding 0.5 aligns the last bit of the sum with the smallest subnormal.
    const V half = hn::Set(d, 126 << 23);
    const V small =
        hn::Sub(hn::BitCast(d, hn::Add(hn::BitCast(df, magnitude), hn::BitCast(df, half))), half);
    y = hn::IfThenElse(hn::Lt(magnitude, hn::Set(d, 113 << 23)), small, y);
    y = hn::IfThenElse(hn::Lt(magnitude, hn::Set(d, 143 << 23)), y, hn::Set(d, 0x7c00));
  }
  const V payload = hn::And(hn::ShiftRight<kDropped>(magnitude), hn::Set(d, kNaN >> 1 | 0x3f));
  const V nan = hn::Or(hn::Set(d, kNaN), payload);
  y = hn::IfThenElse(hn::Gt(magnitude, hn::Set(d, kInfinity)), nan, y);
  return hn::Or(y, hn::And(hn::ShiftRight<16>(x), hn::Set(d, 0x8000)));
}

template <DType dtype>
void upcast_all(int64_t n, void* y, const void* x) {
  const Words d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  auto* out = static_cast<uint32_t*>(y);
  const auto* in = static_cast<const uint16_t*>(x);
  for (int64_t i = 0; i < n; i += lanes) {
    store(upcast<dtype>(hn::PromoteTo(d, load(Halves(), in + i, n - i))), d, out + i, n - i);
  }
}

template <DType dtype>
void downcast_all(int64_t n, void* y, const void* x) {
  const Words d;
  const hn::RebindToSigned<Words> di;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  auto* out = static_cast<uint16_t*>(y);
  const auto* in = static_cast<const uint32_t*>(x);
  for (int64_t i = 0; i < n; i += lanes) {
    const V v = downcast<dtype>(load(d, in + i, n - i));
    store(hn::DemoteTo(Halves(), hn::BitCast(di, v)), Halves(), out + i, n - i);
  }
}

UnaryLoop find_upcast(DType from) {
  return from == kBFloat16 ? upcast_all<kBFloat16> : upcast_all<kFloat16>;
}
UnaryLoop find_downcast(DType to) {
  return to == kBFloat16 ? downcast_all<kBFloat16> : downcast_all<kFloat16>;
}

}  // namespace
}  // namespace ambit::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ambit::cpu {

HWY_EXPORT(find_upcast);
HWY_EXPORT(find_downcast);
UnaryLoop upcast_loop(DType from) { return HWY_DYNAMIC_DISPATCH(find_upcast)(from); }
UnaryLoop downcast_loop(DType to) { return HWY_DYNAMIC_DISPATCH(find_downcast)(to); }

}  // namespace ambit::cpu
#endif
