// The error function, its inverse, gelu and its gradients, Bessel functions, of float and double.
// Included once per instruction set.
#if defined(AMBIT_CPU_SPECIAL_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef AMBIT_CPU_SPECIAL_INL_H
#undef AMBIT_CPU_SPECIAL_INL_H
#else
#define AMBIT_CPU_SPECIAL_INL_H
#endif

#include <ambit/backend/functors.h>
#include <ambit/backend/special_functions.h>
#include <hwy/highway.h>

#include <cmath>

#include "exponential-inl.h"
#include "math_steps-inl.h"

HWY_BEFORE_NAMESPACE();
namespace ambit::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

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
