// Vector maths for float and double: Highway's functions, made right at infinities, NaN and beyond
// their ranges; own sine and cosine, erf, and what multiplies with a small exponential. Errors,
// measured over all magnitudes: at most 4 ulp, denormals too; gelu's 6 in float, 12 in double.
// Included once per instruction set.
#if defined(AMBIT_CPU_MATH_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef AMBIT_CPU_MATH_INL_H
#undef AMBIT_CPU_MATH_INL_H
#else
#define AMBIT_CPU_MATH_INL_H
#endif

#include <ambit/backend/functors.h>
#include <ambit/backend/special_functions.h>
#include <hwy/contrib/math/math-inl.h>
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

/// a b - product, product being a b rounded.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V rest_of_product([[maybe_unused]] D d, V a, V b, V product) {
#if HWY_NATIVE_FMA
  return hn::MulSub(a, b, product);
#else
  // By halves whose products are exact. Source: Dekker 1971, "A floating-point technique for
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

/// c + a b, where c is nearly -a b, of which no digit is lost before the sum.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V plus_product([[maybe_unused]] D d, V c, V a, V b) {
#if HWY_NATIVE_FMA
  return hn::MulAdd(a, b, c);
#else
  const V product = hn::Mul(a, b);
  return hn::Add(hn::Add(c, product), rest_of_product(d, a, b, product));
#endif
}

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

struct Tanh {
  template <class D, class V = hn::Vec<D>>
  V operator()(D d, V x) const {
    return keep_nan(d, x, hn::Tanh(d, x));
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

/// The sine, or the cosine, of |x| up to 39000; beyond that the C library's, lane by lane, since
/// the result of an element must not depend on its neighbours. x is reduced by multiples of pi/2 to
/// a value and the rest that its rounding loses. The largest result is 1 exactly, and sin(-0) is
/// -0.
template <bool is_cosine, class D, class V = hn::Vec<D>>
HWY_INLINE V sine_or_cosine(D d, V x) {
  using T = hn::TFromD<D>;
  constexpr bool kIsFloat = sizeof(T) == 4;
  const hn::RebindToUnsigned<D> bits;
  const V r = hn::Abs(x);
  // Adding it rounds to an integer, which the lowest bits then hold.
  const V magic = constant(d, kIsFloat ? 0x1.8p23 : 0x1.8p52);
  const V n = hn::MulAdd(r, constant(d, 0.63661977236758134308), magic), q = hn::Sub(n, magic);
  // pi/2 in parts. Without an instruction that multiplies and adds with one rounding the first are
  // so short that their products with q are exact.
#if HWY_NATIVE_FMA
  V a = hn::NegMulAdd(q, constant(d, kIsFloat ? 0x1.921fb6p0 : 0x1.921fb54442d18p0), r);
  a = hn::NegMulAdd(q, constant(d, kIsFloat ? -0x1.777a5cp-25 : 0x1.1a62633145c07p-54), a);
  a = hn::NegMulAdd(q, constant(d, kIsFloat ? -0x1.ee59dap-50 : -0x1.f1976b7ed8fbcp-110), a);
#else
  V a = hn::NegMulAdd(q, constant(d, kIsFloat ? 0x1.92p0 : 0x1.921fb5444p0), r);
  a = hn::NegMulAdd(q, constant(d, kIsFloat ? 0x1.fap-12 : 0x1.68c234c4cp-39), a);
  a = hn::NegMulAdd(q, constant(d, kIsFloat ? 0x1.54p-20 : 0x1.98a2e037p-77), a);
  a = hn::NegMulAdd(q, constant(d, kIsFloat ? 0x1.10b462p-30 : 0x1.cd129024e088ap-115), a);
  if constexpr (kIsFloat) a = hn::NegMulAdd(q, constant(d, -0x1.cb3b3ap-55), a);
#endif
  const V square = hn::Mul(a, a);
  V sine, cosine;
  if constexpr (kIsFloat) {  // minimax polynomials on [0, pi/4]
    static constexpr double kSine[] = {-0.0001951463200384751, 0.008332155644893646,
                                       -0.16666655242443085};
    static constexpr double kCosine[] = {2.443241282890085e-05, -0.0013887309469282627,
                                         0.04166664555668831, -0.5};
    sine = polynomial(d, kSine, square);
    cosine = polynomial(d, kCosine, square);
  } else {  // Source: FreeBSD's msun, k_sin.c and k_cos.c
    static constexpr double kSine[] = {1.58969099521155010221e-10, -2.50507602534068634195e-08,
                                       2.75573137070700676789e-06, -1.98412698298579493134e-04,
                                       8.33333333332248946124e-03, -1.66666666666666324348e-01};
    static constexpr double kCosine[] = {-1.13596475577881948265e-11,
                                         2.08757232129817482790e-09,
                                         -2.75573143513906633035e-07,
                                         2.48015872894767294178e-05,
                                         -1.38888888888741095749e-03,
                                         4.16666666666666019037e-02,
                                         -0.5};
    sine = polynomial(d, kSine, square);
    cosine = polynomial(d, kCosine, square);
  }
  sine = hn::MulAdd(hn::Mul(a, square), sine, a);
  cosine = hn::MulAdd(cosine, square, constant(d, 1));
  // Of odd multiples of pi/2 sine and cosine change places; two of them change the sign.
  auto turns = hn::BitCast(bits, n);
  if constexpr (is_cosine) turns = hn::Add(turns, hn::Set(bits, 1));
  constexpr int kTop = 8 * static_cast<int>(sizeof(T)) - 1;
  const auto is_odd = hn::RebindMask(d, hn::TestBit(turns, hn::Set(bits, 1)));
  V sign = hn::BitCast(d, hn::ShiftLeft<kTop - 1>(turns));
  if constexpr (!is_cosine) sign = hn::Xor(sign, x);
  const V y = hn::Xor(hn::IfThenElse(is_odd, cosine, sine), hn::And(sign, hn::SignBit(d)));
  const auto is_near = hn::Le(r, constant(d, 39000));
  if (HWY_LIKELY(hn::AllTrue(d, is_near))) return y;
  return hn::IfThenElse(is_near, y,
                        by_lane(d, x, [](T v) { return is_cosine ? std::cos(v) : std::sin(v); }));
}

struct Sin {
  template <class D, class V = hn::Vec<D>>
  V operator()(D d, V x) const {
    return sine_or_cosine<false>(d, x);
  }
};

struct Cos {
  template <class D, class V = hn::Vec<D>>
  V operator()(D d, V x) const {
    return sine_or_cosine<true>(d, x);
  }
};

struct Asin {
  template <class D, class V = hn::Vec<D>>
  V operator()(D d, V x) const {
    return hn::Asin(d, x);
  }
};

struct Acos {
  template <class D, class V = hn::Vec<D>>
  V operator()(D d, V x) const {
    return hn::Acos(d, x);
  }
};

struct Atan {
  template <class D, class V = hn::Vec<D>>
  V operator()(D d, V x) const {
    return hn::Atan(d, x);
  }
};

/// The vectors of float that, widened to double, fill a register.
using HalfFloats = hn::Rebind<float, hn::ScalableTag<double>>;

/// F of HalfFloats, computed in double: for what loses digits or range in float.
template <class F>
struct ThroughDouble {
  template <class D, class V = hn::Vec<D>>
  V operator()(D d, V x) const {
    const hn::Rebind<double, D> wide;
    const auto y = F()(wide, hn::PromoteTo(wide, x));
#if HWY_TARGET == HWY_SCALAR || HWY_TARGET == HWY_EMU128
    // There DemoteTo makes the largest number of what is infinite.
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

struct Tan {
  template <class D, class V = hn::Vec<D>>
  V operator()(D d, V x) const {
    const V y = hn::Div(Sin()(d, x), Cos()(d, x));
    return hn::IfThenElse(hn::Eq(x, hn::Zero(d)), x, y);  // -0 stays
  }
};

// Beyond 100 both are infinite in float, and Highway's sinh is NaN from 710 on.
struct Sinh {
  template <class D, class V = hn::Vec<D>>
  V operator()(D d, V x) const {
    const V within = hn::Min(hn::Max(x, constant(d, -100)), constant(d, 100));
    return keep_nan(d, x, hn::Sinh(d, within));
  }
};

struct Cosh {
  template <class D, class V = hn::Vec<D>>
  V operator()(D d, V x) const {
    const V half = constant(d, 0.5), e = Exp()(d, hn::Min(hn::Abs(x), constant(d, 100)));
    return keep_nan(d, x, hn::MulAdd(half, e, hn::Div(half, e)));
  }
};

struct Erf {
  /// float: a polynomial near 0, 1 - exp(polynomial) beyond; 1.1 ulp.
  /// Source: N. Juffa, "Efficient faithfully-rounded implementation of error function erff()",
  /// stackoverflow.com/questions/35148198.
  template <class D, class V = hn::Vec<D>>
  requires(sizeof(hn::TFromD<D>) == 4) V operator()(D d, V x) const {
    const V t = hn::Abs(x), s = hn::Mul(x, x);
    V far = hn::MulAdd(constant(d, -1.72853470e-5), t, constant(d, 3.83197126e-4));
    far =
        hn::MulAdd(far, s, hn::MulAdd(constant(d, -3.88396438e-3), t, constant(d, 2.42546219e-2)));
    far = hn::MulAdd(far, t, constant(d, -1.06777877e-1));
    far = hn::MulAdd(far, t, constant(d, -6.34846687e-1));
    far = hn::MulAdd(far, t, constant(d, -1.28717512e-1));
    far = hn::MulAdd(far, t, hn::Neg(t));
    far = hn::CopySign(hn::Sub(constant(d, 1), Exp()(d, far)), x);
    V near = constant(d, -5.96761703e-4);
    near = hn::MulAdd(near, s, constant(d, 4.99119423e-3));
    near = hn::MulAdd(near, s, constant(d, -2.67681349e-2));
    near = hn::MulAdd(near, s, constant(d, 1.12819925e-1));
    near = hn::MulAdd(near, s, constant(d, -3.76125336e-1));
    near = hn::MulAdd(near, s, constant(d, 1.28379166e-1));
    near = hn::MulAdd(near, x, x);
    return hn::IfThenElse(hn::Gt(t, constant(d, 0.927734375)), far, near);
  }
  template <class D, class V = hn::Vec<D>>
  requires(sizeof(hn::TFromD<D>) == 8) V operator()(D d, V x) const {
    return by_lane(d, x, [](double v) { return std::erf(v); });
  }
};

/// The normal distribution at x, no tail of which loses digits: kUp e^(-x^2 / 2), and what
/// e^(-x^2 / 2) is multiplied by for the distribution function at -|x|.
template <class D, class V = hn::Vec<D>>
struct NormalTail {
  HWY_INLINE NormalTail(D d, V x) {
    constexpr bool kIsFloat = sizeof(hn::TFromD<D>) == 4;
    const V half = constant(d, 0.5), most = constant(d, kIsFloat ? 15 : 39);
    const V t = hn::Min(most, hn::Abs(x));
    const V square = hn::Mul(t, t), rest = rest_of_product(d, t, t, square);
    scaled = scaled_exp(d, hn::Neg(hn::Mul(half, square)), hn::Neg(hn::Mul(half, rest)));
    scaled = hn::IfThenElseZero(hn::Lt(hn::Abs(x), most), scaled);
    if constexpr (kIsFloat) {  // a minimax quotient of polynomials on [0, 14.6], within 6e-9
      static constexpr double kAbove[] = {0.004123838152736425, 0.04068383201956749,
                                          0.18338505923748016, 0.43849700689315796, 0.5};
      static constexpr double kBelow[] = {0.010336811654269695, 0.1019856184720993,
                                          0.46986648440361023,  1.2031253576278687,
                                          1.6748790740966797,   1};
      factor = hn::Div(polynomial(d, kAbove, t), polynomial(d, kBelow, t));
    } else {  // Chebyshev's series in 1 / (t + 5) on [0, 39], within 3e-17
      static constexpr double kSeries[] = {
          -1.7090479863491669445e-10, 2.0784567667898749937e-10,  2.1858160948268122219e-9,
          -3.3487129708189732265e-9,  -1.8733394800769342377e-8,  3.4626860977328579347e-8,
          1.6031329219214867545e-7,   -2.949616944494891392e-7,   -1.5842623241549244699e-6,
          1.8563928458427212558e-6,   0.000017809851943653625459, 4.4711431086576181968e-6,
          -0.00019322756600932802865, -0.00052435147746407313654, 0.00086274862009361414214,
          0.011065377991026086197,    0.045972932975526668458,    0.12867006513538862513,
          0.27721847210375635364,     0.48398989574979758709,     0.70122600866436613666,
          0.8516896445588364098};
      const V w = hn::Div(constant(d, 1), hn::Add(t, constant(d, 5)));
      const V place =
          hn::MulSub(w, constant(d, 11.282051282051282051), constant(d, 1.2564102564102564103));
      factor = hn::Mul(polynomial(d, kSeries, place), w);
    }
  }
  V scaled, factor;
};

struct Gelu {
  template <class D, class V = hn::Vec<D>>
  V operator()(D d, V x) const {
    const NormalTail<D> tail(d, x);
    const V below = hn::Mul(tail.scaled, tail.factor), down = constant(d, kDown);
    const V above = hn::NegMulAdd(below, down, constant(d, 1));
    const auto negative = hn::Lt(x, hn::Zero(d));
    const V y = hn::Mul(x, hn::IfThenElse(negative, below, above));
    return hn::IfThenElse(negative, hn::Mul(y, down), y);
  }
};

/// 2 sqrt(2 / pi) (x + 0.044715 x^3) of an x >= 0, and what its rounding has lost: the tail of
/// gelu_tanh is a power of it. As arithmetic::gelu_tanh_logit.
template <class D, class V = hn::Vec<D>>
struct GeluTanhLogit {
  HWY_INLINE GeluTanhLogit(D d, V x) {
    constexpr bool kIsFloat = sizeof(hn::TFromD<D>) == 4;
    const V slope = constant(d, 0x1.9884533d43651p+0), cube = constant(d, 0x1.2444f2a4d8b4bp-4);
    const V slope_rest = constant(d, kIsFloat ? -4.534068054340423e-08 : -9.96930880911092e-17);
    const V cube_rest = constant(d, kIsFloat ? 2.3988324659995897e-09 : -6.175149918155315e-19);
    // Without the maximum compilers may join the product with its sums, and round once.
    const V square = hn::Mul(x, x), bend = hn::Max(hn::Mul(cube, square), hn::Zero(d));
    const V factor = hn::Add(bend, slope), added = hn::Sub(factor, bend);
    value = hn::Mul(x, factor);
    V lost = hn::Add(plus_product(d, hn::Sub(added, factor), cube, square), hn::Sub(slope, added));
    lost = hn::Add(lost, hn::MulAdd(cube_rest, square, slope_rest));
    lost = hn::MulAdd(cube, rest_of_product(d, x, x, square), lost);
    rest = hn::MulAdd(x, lost, rest_of_product(d, x, factor, value));
  }
  V value, rest;
};

struct GeluTanh {
  template <class D, class V = hn::Vec<D>>
  V operator()(D d, V x) const {
    // Beyond 30 all results are 0 or x.
    const GeluTanhLogit<D> logit(d, hn::Min(constant(d, 30), hn::Abs(x)));
    return times_sigmoid(d, x, logit.value, logit.rest);
  }
};

/// log(x / (1 - x)), with what the rounding of the quotient loses, which is much where it is near
/// 1: there 1 / x, by which log(y) changes with the rest of x - y (1 - x), is nearly 4 (1 - x).
struct Logit {
  template <class D, class V = hn::Vec<D>>
  V operator()(D d, V x) const {
    const V below = hn::Sub(constant(d, 1), x), y = hn::Div(x, below);
    const V rest = plus_product(d, hn::Sub(x, y), y, x), slope = hn::Mul(below, constant(d, 4));
    return Log::corrected(d, y, hn::MulAdd(slope, rest, hn::Log(d, y)));
  }
};

/// As arithmetic::sine_cardinal, of float through double.
struct Sinc {
  template <class D, class V = hn::Vec<D>>
  V operator()(D d, V x) const {
    const V pi = constant(d, 3.14159265358979323846);
    const V integer = hn::Round(x), half = hn::Mul(integer, constant(d, 0.5));
    const V sine = hn::Div(hn::Sin(d, hn::Mul(pi, hn::Sub(x, integer))), hn::Mul(pi, x));
    const V y = hn::IfThenElse(hn::Eq(hn::Round(half), half), sine, hn::Neg(sine));
    return hn::IfThenElse(hn::Eq(x, hn::Zero(d)), constant(d, 1), y);
  }
};

/// y with erf(y) = x, of float through double: the last of the source's three ranges begins next to
/// 1, beyond float. Source: Giles 2010, "Approximating the erfinv function", double precision.
struct ErfInv {
  template <class D, class V = hn::Vec<D>>
  V operator()(D d, V x) const {
    static constexpr double kNear[] = {
        -3.6444120640178196996e-21, -1.685059138182016589e-19,  1.2858480715256400167e-18,
        1.115787767802518096e-17,   -1.333171662854620906e-16,  2.0972767875968561637e-17,
        6.6376381343583238325e-15,  -4.0545662729752068639e-14, -8.1519341976054721522e-14,
        2.6335093153082322977e-12,  -1.2975133253453532498e-11, -5.4154120542946279317e-11,
        1.051212273321532285e-09,   -4.1126339803469836976e-09, -2.9070369957882005086e-08,
        4.2347877827932403518e-07,  -1.3654692000834678645e-06, -1.3882523362786468719e-05,
        0.0001867342080340571352,   -0.00074070253416626697512, -0.0060336708714301490533,
        0.24015818242558961693,     1.6536545626831027356};
    static constexpr double kFar[] = {
        2.2137376921775787049e-09, 9.0756561938885390979e-08, -2.7517406297064545428e-07,
        1.8239629214389227755e-08, 1.5027403968909827627e-06, -4.013867526981545969e-06,
        2.9234449089955446044e-06, 1.2475304481671778723e-05, -4.7318229009055733981e-05,
        6.8284851459573175448e-05, 2.4031110387097893999e-05, -0.0003550375203628474796,
        0.00095328937973738049703, -0.0016882755560235047313, 0.0024914420961078508066,
        -0.0037512085075692412107, 0.005370914553590063617,   1.0052589676941592334,
        3.0838856104922207635};
    const V one = constant(d, 1);
    // Of what is beyond 1 the logarithm is NaN.
    const V w = hn::Neg(Log()(d, hn::Mul(hn::Sub(one, x), hn::Add(one, x))));
    V y = polynomial(d, kNear, hn::Sub(w, constant(d, 3.125)));
    const auto is_near = hn::Lt(w, constant(d, 6.25));
    if (!hn::AllTrue(d, is_near)) {
      const V far = polynomial(d, kFar, hn::Sub(hn::Sqrt(w), constant(d, 3.25)));
      y = hn::IfThenElse(is_near, y, far);
    }
    // At 1 the polynomial of infinity is no number.
    y = hn::IfThenElse(hn::Eq(hn::Abs(x), one), infinity(d), y);
    return hn::Mul(y, x);
  }
};

/// The sum of c[k] T_k(t), T_k Chebyshev's polynomials, k < terms, as arithmetic::chebyshev_sum.
template <class D>
HWY_INLINE hn::Vec<D> chebyshev_sum(D d, const double* c, int terms, hn::Vec<D> t) {
  const hn::Vec<D> twice = hn::Add(t, t);
  hn::Vec<D> b1 = hn::Zero(d), b2 = b1;
  for (int k = terms - 1; k > 0; --k) {
    const hn::Vec<D> b0 = hn::MulAdd(twice, b1, hn::Sub(constant(d, c[k]), b2));
    b2 = b1;
    b1 = b0;
  }
  return hn::MulAdd(t, b1, hn::Sub(constant(d, c[0]), b2));
}

/// I0, of float through double: as many terms as float can tell.
struct I0 {
  template <class D, class V = hn::Vec<D>>
  V operator()(D d, V x) const {
    static constexpr arithmetic::BesselI0 kSeries;
    constexpr int kNearTerms = 22, kFarTerms = 9;       // what is left out is below 1e-11
    const V r = hn::Min(hn::Abs(x), constant(d, 200));  // infinite in float, not yet in double
    V y = chebyshev_sum(d, kSeries.near, kNearTerms,
                        hn::MulAdd(r, constant(d, 0.25), constant(d, -1)));
    const auto is_near = hn::Le(r, constant(d, 8));
    if (!hn::AllTrue(d, is_near)) {
      const V t = hn::Sub(hn::Div(constant(d, 16), r), constant(d, 1));
      const V far = hn::Div(chebyshev_sum(d, kSeries.far, kFarTerms, t), hn::Sqrt(r));
      y = hn::IfThenElse(is_near, y, far);
    }
    return keep_nan(d, x, hn::Mul(y, Exp()(d, r)));
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

/// dy * (Phi(x) + x * phi(x)), phi = Phi' = exp(-x^2 / 2) / sqrt(2 pi).
struct GeluGrad {
  template <class D, class V = hn::Vec<D>>
  V operator()(D d, V dy, V x) const {
    const NormalTail<D> tail(d, x);
    const V density = constant(d, arithmetic::kInvSqrtTwoPi);
    // Phi(-t) - t phi(t), t = |x|: of x > 0 what the slope lacks to 1.
    const V e = hn::Mul(tail.scaled, constant(d, kDown));
    const V below = hn::Mul(e, hn::NegMulAdd(hn::Abs(x), density, tail.factor));
    const auto negative = hn::Lt(x, hn::Zero(d));
    return hn::Mul(dy, hn::IfThenElse(negative, below, hn::Sub(constant(d, 1), below)));
  }
};

/// dy * (s + s (1 - s) x u'), s = sigmoid(u), u = gelu_tanh_logit(x).
struct GeluTanhGrad {
  template <class D, class V = hn::Vec<D>>
  V operator()(D d, V dy, V x) const {
    const V slope = constant(d, arithmetic::kGeluTanhSlope), one = constant(d, 1);
    const V cube = constant(d, 3 * arithmetic::kGeluTanhSlope * arithmetic::kGeluTanhCube);
    const V size = hn::Abs(x), t = hn::Min(constant(d, 30), size);  // beyond all slopes are 0 or 1
    const GeluTanhLogit<D> logit(d, t);
    const V e = exp_of_negative(d, hn::Neg(logit.value), hn::Neg(logit.rest));
    const V more = hn::Div(one, hn::Add(one, e)), less = hn::Mul(e, more);
    // s (1 - s) is even, x u' is odd.
    const V bend = hn::Mul(more, hn::MulAdd(cube, hn::Mul(t, t), slope));
    const V weight = hn::Mul(less, size);
    const auto negative = hn::Lt(x, hn::Zero(d));
    return hn::Mul(dy, hn::IfThenElse(negative, hn::NegMulAdd(weight, bend, less),
                                      hn::MulAdd(weight, bend, more)));
  }
};

}  // namespace ambit::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
