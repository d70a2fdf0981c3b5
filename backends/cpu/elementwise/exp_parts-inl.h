// e^x in parts: a power of two, a number and its rounding error, for functions that multiply or add
// an exponential without losing digits. Included once per instruction set.
#if defined(AMBIT_CPU_EXP_PARTS_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef AMBIT_CPU_EXP_PARTS_INL_H
#undef AMBIT_CPU_EXP_PARTS_INL_H
#else
#define AMBIT_CPU_EXP_PARTS_INL_H
#endif

#include <hwy/highway.h>

#include "math_steps-inl.h"

HWY_BEFORE_NAMESPACE();
namespace ambit::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// A factor that keeps tiny numbers normal, so that they lose no digits, and its inverse.
constexpr double kUp = 0x1p64, kDown = 0x1p-64;

/// For x below this number, x e^x is 0.
template <class T>
constexpr double kLeast = sizeof(T) == 4 ? -125 : -752;

/// e^(x + rest) = 2^n (1 + y), where |x + rest - n log(2)| <= log(2) / 2. y is the sum of `high`,
/// which is exact, and low(), which is small; kept apart, because their sum would be rounded.
template <class D, class V = hn::Vec<D>>
struct ReducedExp {
  static constexpr bool kIsFloat = sizeof(hn::TFromD<D>) == 4;

  /// power = 2^(n + shift), which must be a normal number.
  HWY_INLINE ReducedExp(D d, V x, V rest, V shift) {
    const hn::RebindToUnsigned<D> bits;
    // Adding `magic` rounds to an integer, stored in the lowest bits as a floating-point exponent.
    const V magic = hn::Add(constant(d, kIsFloat ? 0x1.8p23 + 127 : 0x1.8p52 + 1023), shift);
    const V n = hn::MulAdd(x, constant(d, 1.44269504088896340736), magic), q = hn::Sub(n, magic);
    // log(2) in two parts; the first has so few bits that its product with q is exact.
    const V long_part = constant(d, kIsFloat ? 0.693145751953125 : 0x1.62e42fee00000p-1);
    const V short_part = constant(d, kIsFloat ? 1.42860682030941723212e-6 : 0x1.a39ef35793c76p-33);
    high = hn::NegMulAdd(q, long_part, x);
    rounding = hn::NegMulAdd(q, short_part, rest);
    reduced = hn::Add(high, rounding);
    if constexpr (kIsFloat) {  // minimax polynomials on [-log(2) / 2, log(2) / 2]
      static constexpr double kExp[] = {0.0013814466074109077, 0.008368780836462975,
                                        0.04166839271783829, 0.1666651964187622,
                                        0.4999999403953552};
      bend = polynomial(d, kExp, reduced);
    } else {
      static constexpr double kExp[] = {2.08860621107283687536341e-9,
                                        2.51112930892876518610661e-8,
                                        2.75573911234900471893338e-7,
                                        2.75572362911928827629423e-6,
                                        2.4801587159235272998791e-5,
                                        0.000198412698960509205564975,
                                        0.00138888888889774492207962,
                                        0.00833333333331652721664984,
                                        0.0416666666666665047591422,
                                        0.166666666666666851703837,
                                        0.5};
      bend = polynomial(d, kExp, reduced);
    }
    power = hn::BitCast(d, hn::ShiftLeft<(kIsFloat ? 23 : 52)>(hn::BitCast(bits, n)));
  }
  HWY_INLINE V low(D) const { return hn::MulAdd(bend, hn::Mul(reduced, reduced), rounding); }

  V high, rounding, reduced, bend, power;
};

/// True if one vector can hold the table of ExpParts: vectors of float on AVX2 and AVX-512.
template <class D>
constexpr bool kHoldsRoots = HWY_ARCH_X86&& HWY_TARGET <= HWY_AVX2 &&
                             sizeof(hn::TFromD<D>) == 4 && hn::MaxLanes(D()) >= 8;

/// 2^(i / lanes) and its rounding error; lanes is 8 or 16.
template <size_t lanes>
struct Roots {
  constexpr Roots() {
    constexpr double kAll[] = {1,
                               1.04427378242741384032196648,
                               1.09050773266525765920701066,
                               1.13878863475669165370383028,
                               1.18920711500272106671749997,
                               1.24185781207348404859367747,
                               1.29683955465100966593375412,
                               1.35425554693689272829801474,
                               1.41421356237309504880168872,
                               1.47682614593949931138690751,
                               1.54221082540794082361229186,
                               1.61049033194925430817952066,
                               1.68179283050742908606225095,
                               1.75625216037329948311216061,
                               1.83400808640934246348708318,
                               1.91520656139714729387261127};
    for (size_t i = 0; i < lanes; ++i) {
      const double root = kAll[i * (16 / lanes)];
      value[i] = static_cast<float>(root);
      lost[i] = static_cast<float>(root - static_cast<double>(value[i]));
    }
  }
  HWY_ALIGN float value[lanes]{}, lost[lanes]{};
};

/// e^(x + rest), or e^-(x + rest), = power (high + low). power = 2^(n + shift) must be a normal
/// number. The low part is less than 0.1; its rounding error does not matter.
template <class D, bool minus = false, class V = hn::Vec<D>>
struct ExpParts {
  /// Uses a table of roots of 2, which fills a register.
  template <class... Rest>
  requires kHoldsRoots<D> HWY_INLINE ExpParts(D d, V x, V shift, Rest... rest) {
    constexpr int kLanes = hn::MaxLanes(D()), kBits = kLanes == 16 ? 4 : 3;
    static constexpr Roots<kLanes> kRoots;
    const hn::RebindToSigned<D> di;
    constexpr double kSign = minus ? -1 : 1;  // reduced is kSign times the rest of the exponent
    const V magic = hn::MulAdd(shift, constant(d, kLanes), constant(d, 0x1.8p23 + kLanes * 127));
    const V n = hn::MulAdd(x, constant(d, kSign * kLanes * 1.44269504088896340736), magic);
    const V q = hn::Sub(n, magic);
    // log(2) in two parts; the first has so few bits that its product with q is exact.
    V reduced = hn::MulAdd(q, constant(d, -kSign * 0.693115234375 / kLanes), x);
    reduced = hn::MulAdd(q, constant(d, -kSign * 3.1946184945309416e-5 / kLanes), reduced);
    ((reduced = hn::Add(reduced, rest)), ...);
    V bend;
    if constexpr (kLanes == 16) {  // minimax polynomials, within 2e-9
      bend = hn::MulAdd(reduced, constant(d, kSign * 0.16667044162750244),
                        constant(d, 0.5000162124633789));
    } else {
      static constexpr double kBend[] = {0.04166901856660843, kSign * 0.16668029129505157, 0.5};
      bend = polynomial(d, kBend, reduced);
    }
    const V square = hn::Mul(reduced, reduced);
    const V y = minus ? hn::MulSub(bend, square, reduced) : hn::MulAdd(bend, square, reduced);
    auto root = hn::BitCast(di, n);
#if HWY_IS_DEBUG_BUILD  // Highway asserts indices in range, which the instruction does not need
    root = hn::And(root, hn::Set(di, kLanes - 1));
#endif
    const auto place = hn::IndicesFromVec(d, root);
    high = hn::TableLookupLanes(hn::Load(d, kRoots.value), place);
    low = hn::MulAdd(high, y, hn::TableLookupLanes(hn::Load(d, kRoots.lost), place));
    power = hn::BitCast(d, hn::ShiftLeft<23>(hn::ShiftRight<kBits>(hn::BitCast(di, n))));
  }
  template <class... Rest>
  HWY_INLINE ExpParts(D d, V x, V shift, Rest... rest) {
    V sum = hn::Zero(d);
    ((sum = rest), ...);
    const ReducedExp<D> e(d, minus ? hn::Neg(x) : x, minus ? hn::Neg(sum) : sum, shift);
    const V one = constant(d, 1);
    high = hn::Add(one, e.high);
    low = hn::Add(hn::Sub(e.high, hn::Sub(high, one)), e.low(d));
    power = e.power;
  }
  V high, low, power;
};

/// kDown power (high + low) - 1, without cancellation near 0.
template <class D, bool minus, class V = hn::Vec<D>>
HWY_INLINE V less_one(D d, const ExpParts<D, minus>& e, V power) {
  return hn::MulAdd(power, e.low, hn::MulSub(power, e.high, constant(d, 1)));
}

/// from + from_lost - x, in two forms: `value` is exact near its zero; `difference` + `lost`, for
/// exponents, includes the rounding error of the difference, which matters if x is large.
template <class D, class V = hn::Vec<D>>
struct Distance {
  HWY_INLINE Distance(D d, double from, double from_lost, V x) {
    using T = hn::TFromD<D>;
    const V first = constant(d, from);
    const V rest = constant(d, (from - static_cast<double>(static_cast<T>(from))) + from_lost);
    difference = hn::Sub(first, x);
    value = hn::Add(difference, rest);
    lost = hn::Add(hn::Sub(first, hn::Add(difference, x)), rest);
  }
  V value, difference, lost;
};

/// ExpParts as power (value + lost): a value and its rounding error.
template <class D, bool minus = false, class V = hn::Vec<D>>
struct ExpSum {
  template <class... Rest>
  HWY_INLINE ExpSum(D d, V x, V shift, Rest... rest) {
    if constexpr (kHoldsRoots<D>) {
      const ExpParts<D, minus> e(d, x, shift, rest...);
      value = hn::Add(e.high, e.low);
      lost = hn::Sub(e.low, hn::Sub(value, e.high));
      power = e.power;
    } else {
      V sum = hn::Zero(d);
      ((sum = rest), ...);
      const ReducedExp<D> e(d, minus ? hn::Neg(x) : x, minus ? hn::Neg(sum) : sum, shift);
      const V one = constant(d, 1);
      const V y = hn::MulAdd(e.bend, hn::Mul(e.reduced, e.reduced), e.reduced);
      value = hn::Add(one, y);
      lost = hn::Sub(y, hn::Sub(value, one));
      power = e.power;
    }
  }
  V value, lost, power;
};

/// Return kUp e^(x + rest) for x <= 0; an x below kLeast gives the result of kLeast.
template <class D, class V = hn::Vec<D>, class... Rest>
HWY_INLINE V scaled_exp(D d, V x, Rest... rest) {
  const ExpParts<D> e(d, at_least(d, kLeast<hn::TFromD<D>>, x), constant(d, 64), rest...);
  return hn::Mul(hn::Add(e.high, e.low), e.power);
}

/// Return e^(x + rest) for x <= 0.
template <class D, class V = hn::Vec<D>, class... Rest>
HWY_INLINE V exp_of_negative(D d, V x, Rest... rest) {
  return hn::Mul(scaled_exp(d, x, rest...), constant(d, kDown));
}

}  // namespace ambit::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
