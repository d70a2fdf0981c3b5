// Trigonometric and hyperbolic functions of float and double. Included once per instruction set.
#if defined(AMBIT_CPU_TRIGONOMETRIC_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef AMBIT_CPU_TRIGONOMETRIC_INL_H
#undef AMBIT_CPU_TRIGONOMETRIC_INL_H
#else
#define AMBIT_CPU_TRIGONOMETRIC_INL_H
#endif

#include <hwy/contrib/math/math-inl.h>
#include <hwy/highway.h>

#include <cmath>

#include "exponential-inl.h"
#include "math_steps-inl.h"

HWY_BEFORE_NAMESPACE();
namespace ambit::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// Return the sine or the cosine of x. For |x| above 39000 the C library computes it, for these
/// lanes only: the result of an element must not depend on its neighbours. For others, multiples of
/// pi/2 are subtracted from x, in several steps for accuracy. No result is greater than 1; sin(-0)
/// is -0.
template <bool is_cosine, class D, class V = hn::Vec<D>>
HWY_INLINE V sine_or_cosine(D d, V x) {
  using T = hn::TFromD<D>;
  constexpr bool kIsFloat = sizeof(T) == 4;
  const hn::RebindToUnsigned<D> bits;
  const V r = hn::Abs(x);
  // Adding `magic` rounds to an integer, stored in the lowest bits of the sum.
  const V magic = constant(d, kIsFloat ? 0x1.8p23 : 0x1.8p52);
  const V n = hn::MulAdd(r, constant(d, 0.63661977236758134308), magic), q = hn::Sub(n, magic);
  // pi/2 in parts. Without fused multiply-add, the first parts have so few bits that their products
  // with q are exact.
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
  // After an odd number of turns by pi/2 the sine is a cosine; two turns change the sign.
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

struct Tan {
  template <class D, class V = hn::Vec<D>>
  V operator()(D d, V x) const {
    const V y = hn::Div(Sin()(d, x), Cos()(d, x));
    return hn::IfThenElse(hn::Eq(x, hn::Zero(d)), x, y);  // -0 gives -0
  }
};

// For |x| above 100, sinh and cosh are infinite in float; Highway's sinh is NaN from 710 on.
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

/// h / (h + 1), h = (e^2|x| - 1) / 2. The rounding errors of h and of h + 1 correct the quotient.
struct Tanh {
  template <class D, class V = hn::Vec<D>>
  V operator()(D d, V x) const {
    const V one = constant(d, 1), size = hn::Abs(x);
    const V t = hn::Min(constant(d, 20), size);
    const HalfExpm1<D> h(d, hn::Add(t, t));
    // `lost` is the error of h + 1: exact for small h; for large h the result is 1 anyway.
    const V below = hn::Add(h.value, one), lost = hn::Sub(h.value, hn::Sub(below, one));
    const V inverse = hn::Div(one, below), y = hn::Mul(h.value, inverse);
    V rest = plus_product(d, h.value, hn::Neg(y), below);
    rest = hn::Add(rest, hn::NegMulAdd(y, hn::Add(lost, h.rest), h.rest));
    return hn::CopySign(keep_nan(d, x, hn::MulAdd(rest, inverse, y)), x);
  }
};

// The inverse hyperbolic functions of float, computed in double. log1p is accurate for small x.
struct Asinh {
  template <class D, class V = hn::Vec<D>>
  V operator()(D d, V x) const {
    // The limit, far above the largest float, keeps the square finite.
    const V one = constant(d, 1), t = hn::Abs(x), within = hn::Min(t, constant(d, 1e100));
    const V square = hn::Mul(within, within);
    const V more = hn::Div(square, hn::Add(one, hn::Sqrt(hn::Add(one, square))));
    return hn::CopySign(Log1p()(d, hn::Add(t, more)), x);
  }
};

struct Acosh {
  template <class D, class V = hn::Vec<D>>
  V operator()(D d, V x) const {
    const V one = constant(d, 1), t = hn::Sub(x, one);
    const V y = Log1p()(d, hn::Add(t, hn::Sqrt(hn::Mul(t, hn::Add(x, one)))));
    return hn::IfThenElse(hn::Ge(x, one), y, hn::NaN(d));
  }
};

struct Atanh {
  template <class D, class V = hn::Vec<D>>
  V operator()(D d, V x) const {
    const V one = constant(d, 1), t = hn::Abs(x);
    const V y = Log1p()(d, hn::Div(hn::Add(t, t), hn::Sub(one, t)));
    return hn::CopySign(hn::Mul(y, constant(d, 0.5)), x);
  }
};

/// As arithmetic::sine_cardinal, of float, computed in double.
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

}  // namespace ambit::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
