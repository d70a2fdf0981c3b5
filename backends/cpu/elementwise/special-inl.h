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

/// Return e g(t), g(t) = (1 + bend(t)) / (1 + slope t) for t >= 0, the tail of a distribution, with
/// its rounding corrected. bend(t) = p polynomial(2 p - 1), p = t / (t + half), is small.
template <class D, size_t n, class V = hn::Vec<D>>
HWY_INLINE V tail(D d, const ExpSum<D>& e, V t, double slope, double half, const double (&c)[n]) {
  const V one = constant(d, 1), rate = constant(d, slope), below = hn::MulAdd(t, rate, one);
  const V lost = plus_product(d, hn::Sub(one, below), t, rate),
          inverse = inverse_estimate(d, below);
  const V place = hn::Div(t, hn::Add(t, constant(d, half)));
  const V bend = polynomial(d, c, hn::MulSub(place, constant(d, 2), one));
  const V off = hn::NegMulAdd(inverse, lost, minus_product(d, one, inverse, below));
  // inverse (1 + rest) is g(t).
  const V small_bend = hn::Mul(place, bend);
  const V rest = hn::MulAdd(off, small_bend, hn::Add(off, small_bend));
  const V y = hn::Mul(e.value, inverse);
  const V small = hn::MulAdd(e.lost, inverse, rest_of_product(d, e.value, inverse, y));
  return hn::Mul(hn::Add(y, hn::MulAdd(y, rest, small)), e.power);
}

/// 1 - erf(x) in float, accurate also in the upper tail, where the result is tiny.
struct Erfc {
  template <class D, class V = hn::Vec<D>>
  V operator()(D d, V x) const {
    static constexpr double kBend[] = {// minimax on [0, 10.2]: within 3e-9 of the result
                                       -0.0004558987857308239, -0.0008983028819784522,
                                       0.004253785591572523,   0.00041925773257389665,
                                       -0.040997739881277084,  0.15441641211509705,
                                       -0.3452242314815521,    0.5345765352249146,
                                       -0.5564097762107849,    0.23751439154148102};
    const V t = at_most(d, 10.5, hn::Abs(x)), square = hn::Mul(t, t);
    const V rest = rest_of_product(d, t, t, square);
    const ExpSum<D> e(d, hn::Neg(square), constant(d, 64), hn::Neg(rest));
    const V y = hn::Mul(tail(d, e, t, 1.75, 3, kBend), constant(d, kDown));
    return hn::IfThenElse(hn::Lt(x, hn::Zero(d)), hn::Sub(constant(d, 2), y), y);
  }
};

/// 2 Phi(-t) e^(t^2 / 2) for t from 0 to 38.75, in double; Phi is the normal distribution function.
/// The sum of a Chebyshev series in 1 / (t + 5), within 3e-17.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V normal_ratio(D d, V t) {
  static constexpr double kSeries[] = {
      -1.7090479863491669445e-10, 2.0784567667898749937e-10,  2.1858160948268122219e-9,
      -3.3487129708189732265e-9,  -1.8733394800769342377e-8,  3.4626860977328579347e-8,
      1.6031329219214867545e-7,   -2.949616944494891392e-7,   -1.5842623241549244699e-6,
      1.8563928458427212558e-6,   0.000017809851943653625459, 4.4711431086576181968e-6,
      -0.00019322756600932802865, -0.00052435147746407313654, 0.00086274862009361414214,
      0.011065377991026086197,    0.045972932975526668458,    0.12867006513538862513,
      0.27721847210375635364,     0.48398989574979758709,     0.70122600866436613666,
      0.8516896445588364098};
  const V w = hn::Div(constant(d, 2), hn::Add(t, constant(d, 5)));
  const V place =
      hn::MulSub(w, constant(d, 5.6410256410256410255), constant(d, 1.2564102564102564103));
  return hn::Mul(polynomial(d, kSeries, place), w);
}

/// -t^2 / 2 as a value and its rounding error.
template <class D, class V = hn::Vec<D>>
struct HalfSquare {
  HWY_INLINE HalfSquare(D d, V t) {
    const V half = constant(d, -0.5), square = hn::Mul(t, t);
    value = hn::Mul(half, square);
    lost = hn::Mul(half, rest_of_product(d, t, t, square));
  }
  V value, lost;
};

/// Twice the normal distribution function at -|x|, times kUp, which keeps tiny results normal.
struct NormalTail {
  template <class D, class V = hn::Vec<D>>
  V operator()(D d, V x) const {
    constexpr bool kIsFloat = sizeof(hn::TFromD<D>) == 4;
    const V size = hn::Abs(x), most = constant(d, kIsFloat ? 15 : 38.75), t = hn::Min(most, size);
    const HalfSquare<D> square(d, t);
    V y = scaled_exp(d, square.value, square.lost);
    if constexpr (kIsFloat) {  // a minimax quotient of polynomials on [0, 14.6], within 6e-9
      static constexpr double kAbove[] = {0.00824767630547285, 0.08136766403913498,
                                          0.36677011847496033, 0.8769940137863159, 1};
      static constexpr double kBelow[] = {0.010336811654269695, 0.1019856184720993,
                                          0.46986648440361023,  1.2031253576278687,
                                          1.6748790740966797,   1};
      y = hn::Div(hn::Mul(y, polynomial(d, kAbove, t)), polynomial(d, kBelow, t));
    } else {
      y = hn::Mul(y, normal_ratio(d, t));
    }
    return hn::IfThenElseZero(hn::Lt(size, most), y);
  }
};

struct Gelu {
  template <class D, class V = hn::Vec<D>>
  V operator()(D d, V x) const {
    const V tail = NormalTail()(d, x), half = constant(d, kDown / 2);
    const auto positive = hn::Gt(x, hn::Zero(d));
    const V above = hn::NegMulAdd(tail, half, constant(d, 1));
    const V y = hn::Mul(x, hn::IfThenElse(positive, above, tail));
    return hn::IfThenElse(positive, y, hn::Mul(y, half));
  }
};

/// As arithmetic::gelu_tanh_logit, 2 sqrt(2 / pi) (x + 0.044715 x^3), with its rounding error,
/// which matters because the tail of gelu_tanh is its exponential.
template <class D, class V = hn::Vec<D>>
struct GeluTanhLogit {
  HWY_INLINE GeluTanhLogit(D d, V x) {
    constexpr bool kIsFloat = sizeof(hn::TFromD<D>) == 4;
    const V slope = constant(d, 0x1.9884533d43651p+0), cube = constant(d, 0x1.2444f2a4d8b4bp-4);
    const V slope_rest = constant(d, kIsFloat ? -4.534068054340423e-08 : -9.96930880911092e-17);
    const V cube_rest = constant(d, kIsFloat ? 2.3988324659995897e-09 : -6.175149918155315e-19);
    // The maximum keeps compilers from fusing the product with a sum: `lost` expects two roundings.
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
    // For |x| above 30 all results are 0 or x.
    const GeluTanhLogit<D> logit(d, at_least(d, -30, at_most(d, 30, x)));
    return times_sigmoid(d, x, logit.value, logit.rest);
  }
};

/// y with erf(y) = x, for float, computed in double. The source's third range is omitted: it lies
/// between 1 and the largest float below 1. Source: Giles 2010, "Approximating the erfinv
/// function".
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
    // NaN for |x| > 1.
    const V w = hn::Neg(Log()(d, hn::Mul(hn::Sub(one, x), hn::Add(one, x))));
    V y = polynomial(d, kNear, hn::Sub(w, constant(d, 3.125)));
    const auto is_near = hn::Lt(w, constant(d, 6.25));
    if (!hn::AllTrue(d, is_near)) {
      const V far = polynomial(d, kFar, hn::Sub(hn::Sqrt(w), constant(d, 3.25)));
      y = hn::IfThenElse(is_near, y, far);
    }
    // For |x| = 1, w is infinite and the polynomial NaN.
    y = hn::IfThenElse(hn::Eq(hn::Abs(x), one), infinity(d), y);
    return hn::Mul(y, x);
  }
};

/// The sum of c[k] T_k(t), k < terms, T_k the Chebyshev polynomials. As arithmetic::chebyshev_sum.
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

/// I0 of float, computed in double, with as many terms as float results need.
struct I0 {
  template <class D, class V = hn::Vec<D>>
  V operator()(D d, V x) const {
    static constexpr arithmetic::BesselI0 kSeries;
    constexpr int kNearTerms = 22, kFarTerms = 9;       // the omitted terms are below 1e-11
    const V r = hn::Min(hn::Abs(x), constant(d, 200));  // I0(200) is finite in double, not in float
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

/// dy (Phi(x) + x phi(x)), phi = Phi' = e^(-x^2 / 2) / sqrt(2 pi).
struct GeluGrad {
  template <class D, class V = hn::Vec<D>>
  requires(sizeof(hn::TFromD<D>) == 4) V operator()(D d, V dy, V x) const {
    // With t = |x|, Phi(-t) - t phi(t) = e^(-t^2 / 2) (zero - t) g(t). Near its zero the difference
    // on the left would lose all digits. g: minimax on [0, 15], within 2e-8.
    static constexpr double kSlope[] = {-6.890604709042236e-06, -8.406287861362216e-07,
                                        0.000178082991624251,   -0.00016921003407333046,
                                        -0.0017867771675810218, 0.009509398601949215,
                                        -0.02808341756463051,   0.06046248599886894,
                                        -0.10336589813232422,   0.4622112512588501};
    const V zero = constant(d, 0.7517915368080139), zero_lost = constant(d, -1.211444988769017e-8);
    const V t = at_most(d, 15, hn::Abs(x)), four = constant(d, 4);
    const HalfSquare<D> square(d, t);
    const V place = hn::Div(hn::Sub(t, four), hn::Add(t, four));
    const V slope = hn::Mul(hn::Add(hn::Sub(zero, t), zero_lost), polynomial(d, kSlope, place));
    const V scaled = hn::Mul(scaled_exp(d, square.value, square.lost), slope);
    const V below = hn::Mul(scaled, constant(d, kDown));
    const auto negative = hn::Lt(x, hn::Zero(d));
    const V y = hn::IfThenElse(negative, below, hn::Sub(constant(d, 1), below));
    return hn::Mul(dy, hn::MulAdd(x, hn::Zero(d), y));  // infinities give NaN
  }
  template <class D, class V = hn::Vec<D>>
  requires(sizeof(hn::TFromD<D>) == 8) V operator()(D d, V dy, V x) const {
    const V size = hn::Abs(x), t = at_most(d, 38.75, size), half = constant(d, 0.5);
    const HalfSquare<D> square(d, t);
    const V density = hn::Mul(size, constant(d, arithmetic::kInvSqrtTwoPi));
    // Phi(-t) - t phi(t), t = |x|. It is the slope for x < 0, and 1 minus the slope for x > 0.
    const V below = hn::Mul(exp_of_negative(d, square.value, square.lost),
                            hn::MulSub(half, normal_ratio(d, t), density));
    const auto negative = hn::Lt(x, hn::Zero(d));
    return hn::Mul(dy, hn::IfThenElse(negative, below, hn::Sub(constant(d, 1), below)));
  }
};

/// dy times the slope. For x > 0 the slope is 1 - slope(-x), else, with t = -x, e = e^-u and
/// u = gelu_tanh_logit(t), it is e (1 - t u' + e) / (1 + e)^2.
/// The factor 1 - t u' + e is 0 at a t0, near which its terms would cancel. So it is computed as
/// (t0 u'(t0) - t u') + e0 (e^(u0 - u) - 1), e0 = e at t0: both terms have the sign of t0 - t.
struct GeluTanhGrad {
  template <class D, class V = hn::Vec<D>>
  V operator()(D d, V dy, V x) const {
    const V one = constant(d, 1), e0 = constant(d, 0.29195521191476714);
    const V t = at_most(d, 30, hn::Abs(x));  // for |x| above 30 all slopes are 0 or 1
    const GeluTanhLogit<D> logit(d, t);
    const Distance<D> c(d, 1.2311548723318988, -1.449217884953896e-17, logit.value);
    const V limited = at_least(d, kLeast<hn::TFromD<D>>, c.difference);
    const ExpParts<D> e(d, limited, constant(d, 64), hn::Sub(c.lost, logit.rest));
    const V power = hn::Mul(e.power, constant(d, kDown)), m = less_one(d, e, power);
    const Distance<D> distance(d, 0.7524614220710163, -3.635560509207687e-17, t);
    V factor = hn::MulAdd(t, constant(d, 0.21406444881780073), constant(d, 0.1610752395722906));
    factor = hn::MulAdd(t, factor, constant(d, 1.716972025434726));
    factor = hn::MulAdd(factor, distance.value, hn::Mul(m, e0));
    const V value = hn::Mul(hn::Add(e.high, e.low), e0), below = hn::MulAdd(value, power, one);
    const V y = hn::Div(hn::Mul(value, factor), hn::Mul(below, below));
    const V slope = hn::Mul(hn::Mul(y, e.power), constant(d, kDown));
    const auto negative = hn::Lt(x, hn::Zero(d));
    // Infinities give NaN.
    return hn::Mul(
        dy, hn::MulAdd(x, hn::Zero(d), hn::IfThenElse(negative, slope, hn::Sub(one, slope))));
  }
};

}  // namespace ambit::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
