// Exponentials and logarithms of float and double, and functions of one exponential. Included once
// per instruction set.
#if defined(AMBIT_CPU_EXPONENTIAL_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef AMBIT_CPU_EXPONENTIAL_INL_H
#undef AMBIT_CPU_EXPONENTIAL_INL_H
#else
#define AMBIT_CPU_EXPONENTIAL_INL_H
#endif

#include <hwy/contrib/math/math-inl.h>
#include <hwy/highway.h>

#include "math_steps-inl.h"

HWY_BEFORE_NAMESPACE();
namespace ambit::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// A factor that keeps the digits of numbers next to the smallest, and its inverse.
constexpr double kUp = 0x1p64, kDown = 0x1p-64;

/// Below it x e^x is 0.
template <class T>
constexpr double kLeast = sizeof(T) == 4 ? -125 : -752;

/// kUp e^(x + rest) of x <= 0; of one below kLeast that of kLeast.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V scaled_exp(D d, V x, V rest) {
  using T = hn::TFromD<D>;
  constexpr bool kIsFloat = sizeof(T) == 4;
  const hn::RebindToUnsigned<D> bits;
  const V least = constant(d, kLeast<T>), v = hn::IfThenElse(hn::Lt(x, least), least, x);
  // Adding it rounds to an integer, which the lowest bits then hold, as the exponent of a number.
  const V magic = constant(d, kIsFloat ? 0x1.8p23 + 127 + 64 : 0x1.8p52 + 1023 + 64);
  const V n = hn::MulAdd(v, constant(d, 1.44269504088896340736), magic), q = hn::Sub(n, magic);
  // log(2) in two parts, the first so short that its product with q is exact.
  const V high = constant(d, kIsFloat ? 0.693145751953125 : 0x1.62e42fee00000p-1);
  const V low = constant(d, kIsFloat ? 1.42860682030941723212e-6 : 0x1.a39ef35793c76p-33);
  const V r = hn::Add(hn::NegMulAdd(q, high, v), hn::NegMulAdd(q, low, rest));
  V y;
  if constexpr (kIsFloat) {  // minimax polynomials on [-log(2) / 2, log(2) / 2]
    static constexpr double kExp[] = {0.0013814466074109077, 0.008368780836462975,
                                      0.04166839271783829, 0.1666651964187622, 0.4999999403953552};
    y = polynomial(d, kExp, r);
  } else {
    static constexpr double kExp[] = {2.08860621107283687536341e-9,
                                      2.51112930892876518610661e-8,
                                      2.75573911234900471893338e-7,
                                      2.75572362911928827629423e-6,
                                      2.4801587159235472998791e-5,
                                      0.000198412698960509205564975,
                                      0.00138888888889774492207962,
                                      0.00833333333331652721664984,
                                      0.0416666666666665047591422,
                                      0.166666666666666851703837,
                                      0.5};
    y = polynomial(d, kExp, r);
  }
  y = hn::MulAdd(y, hn::Mul(r, r), r);
  const V power = hn::BitCast(d, hn::ShiftLeft<(kIsFloat ? 23 : 52)>(hn::BitCast(bits, n)));
  return hn::MulAdd(y, power, power);
}

/// e^(x + rest) of x <= 0.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V exp_of_negative(D d, V x, V rest) {
  return hn::Mul(scaled_exp(d, x, rest), constant(d, kDown));
}
template <class D, class V = hn::Vec<D>>
HWY_INLINE V exp_of_negative(D d, V x) {
  return exp_of_negative(d, x, hn::Zero(d));
}

struct Exp {
  template <class D, class V = hn::Vec<D>>
  V operator()(D d, V x) const {
    // Highway is exact enough up to this bound, where the result is infinite already.
    const V bound = constant(d, sizeof(hn::TFromD<D>) == 4 ? 104 : 720);
    return keep_nan(d, x, hn::Exp(d, hn::Min(x, bound)));
  }
};

struct Expm1 {
  template <class D, class V = hn::Vec<D>>
  V operator()(D d, V x) const {
    const V bound = constant(d, sizeof(hn::TFromD<D>) == 4 ? 104 : 720);
    const V y = keep_nan(d, x, hn::Expm1(d, hn::Min(x, bound)));
    return hn::IfThenElse(hn::Eq(x, hn::Zero(d)), x, y);  // -0 stays
  }
};

struct Log {
  template <class D, class V = hn::Vec<D>>
  V operator()(D d, V x) const {
    return corrected(d, x, hn::Log(d, x));
  }
  /// y, but where log(x) is not finite that.
  template <class D, class V = hn::Vec<D>>
  static HWY_INLINE V corrected(D d, V x, V y) {
    const V zero = hn::Zero(d), inf = infinity(d);
    y = hn::IfThenElse(hn::Eq(x, inf), inf, y);
    y = hn::IfThenElse(hn::Eq(x, zero), hn::Neg(inf), y);
    // Not (x >= 0): negative or NaN.
    return hn::IfThenElse(hn::Ge(x, zero), y, hn::NaN(d));
  }
};

struct Log1p {
  template <class D, class V = hn::Vec<D>>
  V operator()(D d, V x) const {
    const V inf = infinity(d), minus_one = constant(d, -1);
    V y = hn::Log1p(d, x);
    y = hn::IfThenElse(hn::Eq(x, inf), inf, y);
    y = hn::IfThenElse(hn::Eq(x, minus_one), hn::Neg(inf), y);
    return hn::IfThenElse(hn::Ge(x, minus_one), y, hn::NaN(d));
  }
};

struct Sigmoid {
  template <class D, class V = hn::Vec<D>>
  V operator()(D d, V x) const {
    // exp(-|x|) never overflows, and keeps the digits of tiny results.
    const V one = constant(d, 1);
    const V e = exp_of_negative(d, hn::Neg(hn::Abs(x)));
    return hn::Div(hn::IfThenElse(hn::Lt(x, hn::Zero(d)), e, one), hn::Add(one, e));
  }
};

/// x sigmoid(u + rest) of an u that has the sign of x, rest being of |u|.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V times_sigmoid(D d, V x, V u, V rest) {
  const V one = constant(d, 1), less = hn::Neg(hn::Abs(u));
  V scaled = scaled_exp(d, less, hn::Neg(rest));
  const V e = hn::Mul(scaled, constant(d, kDown));
  scaled = hn::IfThenElseZero(hn::Ge(less, constant(d, kLeast<hn::TFromD<D>>)), scaled);
  // Of a negative x the digits of a tiny e are kept until it is multiplied.
  const auto negative = hn::Lt(x, hn::Zero(d));
  const V above = hn::Mul(x, hn::IfThenElse(negative, scaled, one));
  const V y = hn::Div(above, hn::Add(one, e));
  return hn::Mul(y, hn::IfThenElse(negative, constant(d, kDown), one));
}

struct Log2 {  // rounded to float exact at powers of two
  template <class D, class V = hn::Vec<D>>
  V operator()(D d, V x) const {
    return hn::Mul(Log()(d, x), constant(d, 1.44269504088896340736));
  }
};

struct Log10 {
  template <class D, class V = hn::Vec<D>>
  V operator()(D d, V x) const {
    return hn::Mul(Log()(d, x), constant(d, 0.43429448190325182765));
  }
};

/// log(x / (1 - x)), with a correction for the rounding of the quotient y, which matters next to
/// x = 1/2: there 1 / x, by which log(y) changes with rest = x - y (1 - x), is nearly 4 (1 - x).
/// Next to 1 this factor hides that x - y is rounded.
struct Logit {
  template <class D, class V = hn::Vec<D>>
  V operator()(D d, V x) const {
    const V below = hn::Sub(constant(d, 1), x), y = hn::Div(x, below);
    const V rest = plus_product(d, hn::Sub(x, y), y, x), slope = hn::Mul(below, constant(d, 4));
    const V log = hn::MulAdd(slope, rest, hn::Log(d, y));
    const auto is_plain = hn::And(hn::Gt(y, hn::Zero(d)), hn::Lt(y, infinity(d)));
    return HWY_LIKELY(hn::AllTrue(d, is_plain)) ? log : Log::corrected(d, y, log);
  }
};

/// log(e^a + e^b) as the larger and what the other adds to it, log(1 + e^-|a - b|). Equal
/// infinities have no difference.
struct LogAddExp {
  template <class D, class V = hn::Vec<D>>
  V operator()(D d, V a, V b) const {
    const V d_ab = hn::Abs(hn::Sub(a, b));
    const V more = hn::IfThenElse(hn::Gt(a, b), a, b);
    const V sum = hn::Add(more, Log1p()(d, Exp()(d, hn::Neg(d_ab))));
    return hn::IfThenElse(hn::And(hn::Eq(a, b), hn::Eq(hn::Abs(a), infinity(d))), a, sum);
  }
};

}  // namespace ambit::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
