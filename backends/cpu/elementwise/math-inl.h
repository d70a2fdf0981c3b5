// Vector maths for float and double: Highway's functions, made right at infinities, NaN and beyond
// their ranges, and erf. Errors, measured over all magnitudes: at most 4 ulp, denormals too.
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
    const V zero = hn::Zero(d), inf = infinity(d);
    V y = hn::Log(d, x);
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
    const V e = Exp()(d, hn::Neg(hn::Abs(x)));
    return hn::Div(hn::IfThenElse(hn::Lt(x, hn::Zero(d)), e, one), hn::Add(one, e));
  }
};

/// Return y, but where |x| is beyond what Highway's sine and cosine are exact for, or NaN, f of x.
/// Lane by lane: what an element becomes must not depend on its neighbours.
template <class D, class F>
HWY_INLINE hn::Vec<D> or_by_lane(D d, hn::Vec<D> x, hn::Vec<D> y, F f) {
  const auto exact = hn::Le(hn::Abs(x), constant(d, 39000));
  if (hn::AllTrue(d, exact)) return y;
  return hn::IfThenElse(exact, y, by_lane(d, x, f));
}

struct Sin {
  template <class D, class V = hn::Vec<D>>
  V operator()(D d, V x) const {
    return or_by_lane(d, x, hn::Sin(d, x), [](auto v) { return std::sin(v); });
  }
};

struct Cos {
  template <class D, class V = hn::Vec<D>>
  V operator()(D d, V x) const {
    return or_by_lane(d, x, hn::Cos(d, x), [](auto v) { return std::cos(v); });
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
    return hn::DemoteTo(d, F()(wide, hn::PromoteTo(wide, x)));
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

/// Phi, the distribution function of the normal distribution.
struct NormalCdf {
  template <class D, class V = hn::Vec<D>>
  V operator()(D d, V x) const {
    const V half = constant(d, 0.5);
    return hn::MulAdd(half, Erf()(d, hn::Mul(x, constant(d, 0.70710678118654752))), half);
  }
};

struct Gelu {
  template <class D, class V = hn::Vec<D>>
  V operator()(D d, V x) const {
    return hn::Mul(x, NormalCdf()(d, x));
  }
};

/// As arithmetic::gelu_tanh_logit.
struct GeluTanhLogit {
  template <class D, class V = hn::Vec<D>>
  V operator()(D d, V x) const {
    const V slope = constant(d, arithmetic::kGeluTanhSlope);
    const V cube = constant(d, arithmetic::kGeluTanhSlope * arithmetic::kGeluTanhCube);
    return hn::Mul(x, hn::MulAdd(cube, hn::Mul(x, x), slope));
  }
};

struct GeluTanh {
  template <class D, class V = hn::Vec<D>>
  V operator()(D d, V x) const {
    return hn::Mul(x, Sigmoid()(d, GeluTanhLogit()(d, x)));
  }
};

/// log(x / (1 - x)).
struct Logit {
  template <class D, class V = hn::Vec<D>>
  V operator()(D d, V x) const {
    return Log()(d, hn::Div(x, hn::Sub(constant(d, 1), x)));
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

/// c[0] t^(n - 1) + ... + c[n - 1], in vectors.
template <class D, size_t n>
HWY_INLINE hn::Vec<D> polynomial(D d, const double (&c)[n], hn::Vec<D> t) {
  hn::Vec<D> sum = constant(d, c[0]);
  for (size_t i = 1; i < n; ++i) sum = hn::MulAdd(sum, t, constant(d, c[i]));
  return sum;
}

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
    const V pdf = hn::Mul(constant(d, 0.39894228040143268),
                          Exp()(d, hn::Mul(constant(d, -0.5), hn::Mul(x, x))));
    return hn::Mul(dy, hn::MulAdd(x, pdf, NormalCdf()(d, x)));
  }
};

/// dy * (s + s (1 - s) x u'), s = sigmoid(u), u = gelu_tanh_logit(x).
struct GeluTanhGrad {
  template <class D, class V = hn::Vec<D>>
  V operator()(D d, V dy, V x) const {
    const V slope = constant(d, arithmetic::kGeluTanhSlope);
    const V cube = constant(d, 3 * arithmetic::kGeluTanhSlope * arithmetic::kGeluTanhCube);
    const V s = Sigmoid()(d, GeluTanhLogit()(d, x));
    const V bend = hn::Mul(hn::Mul(s, hn::Sub(constant(d, 1), s)), x);
    return hn::Mul(dy, hn::MulAdd(bend, hn::MulAdd(cube, hn::Mul(x, x), slope), s));
  }
};

}  // namespace ambit::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
