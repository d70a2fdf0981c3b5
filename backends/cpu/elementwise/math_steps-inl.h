// Steps of the vector maths: constants, polynomials, products with their rounding errors, and
// functions of float computed in double. Included once per instruction set.
#if defined(AMBIT_CPU_MATH_STEPS_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef AMBIT_CPU_MATH_STEPS_INL_H
#undef AMBIT_CPU_MATH_STEPS_INL_H
#else
#define AMBIT_CPU_MATH_STEPS_INL_H
#endif

#include <hwy/highway.h>

#include <cmath>
#include <limits>

HWY_BEFORE_NAMESPACE();
namespace ambit::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

template <class D>
hn::Vec<D> constant(D d, double value) {
  return hn::Set(d, static_cast<hn::TFromD<D>>(value));
}
template <class D>
hn::Vec<D> infinity(D d) {
  return hn::Set(d, std::numeric_limits<hn::TFromD<D>>::infinity());
}
template <class D>
hn::Vec<D> keep_nan(D, hn::Vec<D> x, hn::Vec<D> y) {
  return hn::IfThenElse(hn::IsNaN(x), x, y);
}
/// Apply the C library's function to each lane.
template <class D, class F>
hn::Vec<D> by_lane(D d, hn::Vec<D> x, F f) {
  HWY_ALIGN hn::TFromD<D> lanes[hn::MaxLanes(D())];
  hn::Store(x, d, lanes);
  for (size_t i = 0; i < hn::Lanes(d); ++i) lanes[i] = f(lanes[i]);
  return hn::Load(d, lanes);
}

/// c[0] t^(n - 1) + ... + c[n - 1], in vectors.
template <class D, size_t n>
HWY_INLINE hn::Vec<D> polynomial(D d, const double (&c)[n], hn::Vec<D> t) {
  hn::Vec<D> sum = constant(d, c[0]);
  for (size_t i = 1; i < n; ++i) sum = hn::MulAdd(sum, t, constant(d, c[i]));
  return sum;
}

/// Return a b - product, where product is a b rounded.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V rest_of_product([[maybe_unused]] D d, V a, V b, V product) {
#if HWY_NATIVE_FMA
  return hn::MulSub(a, b, product);
#elif HWY_TARGET == HWY_SCALAR
  if constexpr (sizeof(hn::TFromD<D>) == 4) {  // double holds the product of two floats
    return V(static_cast<float>(double{a.raw} * double{b.raw} - double{product.raw}));
  } else {
    return V(std::fma(a.raw, b.raw, -product.raw));
  }
#else
  // Split into halves with exact products. Source: Dekker 1971, "A floating-point technique for
  // extending the available precision".
  using T = hn::TFromD<D>;
  const hn::RebindToUnsigned<D> bits;
  const auto mask =
      hn::BitCast(d, hn::Set(bits, static_cast<hn::TFromD<decltype(bits)>>(
                                       sizeof(T) == 4 ? 0xfffff000 : 0xfffffffff8000000)));
  const V a_high = hn::And(a, mask), a_low = hn::Sub(a, a_high);
  const V b_high = hn::And(b, mask), b_low = hn::Sub(b, b_high);
  V rest = hn::MulSub(a_high, b_high, product);
  rest = hn::MulAdd(a_high, b_low, rest);
  rest = hn::MulAdd(a_low, b_high, rest);
  return hn::MulAdd(a_low, b_low, rest);
#endif
}

/// Return c + a b, where c is nearly -a b; a b is not rounded before the sum.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V plus_product([[maybe_unused]] D d, V c, V a, V b) {
#if HWY_NATIVE_FMA
  return hn::MulAdd(a, b, c);
#elif HWY_TARGET == HWY_SCALAR
  if constexpr (sizeof(hn::TFromD<D>) == 4) {
    return V(static_cast<float>(double{a.raw} * double{b.raw} + double{c.raw}));
  } else {
    const V product = hn::Mul(a, b);
    return hn::Add(hn::Add(c, product), rest_of_product(d, a, b, product));
  }
#else
  const V product = hn::Mul(a, b);
  return hn::Add(hn::Add(c, product), rest_of_product(d, a, b, product));
#endif
}

/// Return c - a b, where c is nearly a b; a b is not rounded before the difference.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V minus_product([[maybe_unused]] D d, V c, V a, V b) {
#if HWY_NATIVE_FMA
  return hn::NegMulAdd(a, b, c);
#else
  return plus_product(d, c, hn::Neg(a), b);
#endif
}

/// Return nearly 1 / x for a normal x: within 2^-14 on AVX-512, else the rounded value.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V inverse_estimate(D d, V x) {
#if HWY_TARGET <= HWY_AVX3 && HWY_ARCH_X86
  if constexpr (sizeof(hn::TFromD<D>) == 4 && hn::MaxLanes(D()) == 16) {
    return hn::ApproximateReciprocal(x);
  }
#endif
  return hn::Div(constant(d, 1), x);
}

/// Return the smaller (at_most) or larger (at_least) of x and a limit; NaN for a NaN x.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V at_most(D d, double limit, V x) {
  const V most = constant(d, limit);
#if HWY_ARCH_X86 && HWY_TARGET != HWY_SCALAR && HWY_TARGET != HWY_EMU128
  return hn::Min(most, x);  // the instruction returns its second operand if one is NaN
#else
  return hn::IfThenElse(hn::Gt(x, most), most, x);
#endif
}
template <class D, class V = hn::Vec<D>>
HWY_INLINE V at_least(D d, double limit, V x) {
  const V least = constant(d, limit);
#if HWY_ARCH_X86 && HWY_TARGET != HWY_SCALAR && HWY_TARGET != HWY_EMU128
  return hn::Max(least, x);
#else
  return hn::IfThenElse(hn::Lt(x, least), least, x);
#endif
}

/// Vectors of float that fill a register after conversion to double.
using HalfFloats = hn::Rebind<float, hn::ScalableTag<double>>;

/// F of HalfFloats, computed in double: for functions that lose digits or range in float.
template <class F>
struct ThroughDouble {
  template <class D, class V = hn::Vec<D>>
  V operator()(D d, V x) const {
    const hn::Rebind<double, D> wide;
    const auto y = F()(wide, hn::PromoteTo(wide, x));
#if HWY_TARGET == HWY_SCALAR || HWY_TARGET == HWY_EMU128
    // On these targets DemoteTo turns infinities into the largest float.
    HWY_ALIGN double lanes[hn::MaxLanes(D())];
    HWY_ALIGN float narrow[hn::MaxLanes(D())];
    hn::Store(y, wide, lanes);
    for (size_t i = 0; i < hn::Lanes(d); ++i) narrow[i] = static_cast<float>(lanes[i]);
    return hn::Load(d, narrow);
#else
    return hn::DemoteTo(d, y);
#endif
  }
};

}  // namespace ambit::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
