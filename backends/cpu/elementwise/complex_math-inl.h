// Functions of vectors of complex numbers, computed in float64. They hold for finite operands and
// results. Included once per instruction set.
#if defined(AMBIT_CPU_COMPLEX_MATH_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef AMBIT_CPU_COMPLEX_MATH_INL_H
#undef AMBIT_CPU_COMPLEX_MATH_INL_H
#else
#define AMBIT_CPU_COMPLEX_MATH_INL_H
#endif

#include <hwy/highway.h>

#include "math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace ambit::cpu::HWY_NAMESPACE {
namespace {

using D = hn::ScalableTag<double>;
using V = hn::Vec<D>;

/// A vector of complex numbers.
struct Z {
  V re, im;
};

V number(double x) { return hn::Set(D(), x); }
[[gnu::noinline]] V sine(V x) { return Sin()(D(), x); }
[[gnu::noinline]] V cosine(V x) { return Cos()(D(), x); }
[[gnu::noinline]] V exponential(V x) { return Exp()(D(), x); }
/// Return |z|^2.
V norm(const Z& z) { return hn::MulAdd(z.re, z.re, hn::Mul(z.im, z.im)); }
Z scaled(const Z& z, double factor) {
  return {hn::Mul(z.re, number(factor)), hn::Mul(z.im, number(factor))};
}
Z product(const Z& a, const Z& b) {
  return {hn::MulSub(a.re, b.re, hn::Mul(a.im, b.im)), hn::MulAdd(a.re, b.im, hn::Mul(a.im, b.re))};
}
/// Return the sum of a b and c d, where the products of float32 numbers are exact.
V sum_of_products(V a, V b, V c, V d) { return hn::MulAdd(a, b, hn::Mul(c, d)); }

/// Return a / b of complex64 operands without scaling: |b|^2 neither overflows nor underflows in
/// float64.
struct Quotient {
  Z operator()(const Z& a, const Z& b) const {
    const V below = hn::Div(number(1), norm(b));
    return {hn::Mul(sum_of_products(a.re, b.re, a.im, b.im), below),
            hn::Mul(sum_of_products(a.im, b.re, hn::Neg(a.re), b.im), below)};
  }
};

/// Return a / b, scaled by the larger part of b so that no intermediate result overflows.
struct ScaledQuotient {
  Z operator()(const Z& a, const Z& b) const {
    const auto is_real = hn::Ge(hn::Abs(b.re), hn::Abs(b.im));
    const V large = hn::IfThenElse(is_real, b.re, b.im);
    const V small = hn::IfThenElse(is_real, b.im, b.re);
    const V ratio = hn::Div(small, large);
    const V scale = hn::Div(number(1), hn::MulAdd(small, ratio, large));
    const V first = hn::IfThenElse(is_real, a.re, a.im);
    const V second = hn::IfThenElse(is_real, a.im, a.re);
    const V im = hn::Mul(hn::NegMulAdd(first, ratio, second), scale);
    return {hn::Mul(hn::MulAdd(second, ratio, first), scale),
            hn::IfThenElse(is_real, im, hn::Neg(im))};
  }
};

template <class Divide>
struct Reciprocal {
  Z operator()(const Z& z) const { return Divide()({number(1), hn::Zero(D())}, z); }
};

struct ComplexExp {
  Z operator()(const Z& z) const {
    const V length = exponential(z.re);
    return {hn::Mul(length, cosine(z.im)), hn::Mul(length, sine(z.im))};
  }
};

struct ComplexExp2 {
  Z operator()(const Z& z) const { return ComplexExp()(scaled(z, 0.69314718055994530942)); }
};

/// Return the angle of z, computed from the quotient of its smaller and its larger part.
[[gnu::noinline]] V angle_of(const Z& z) {
  const V x = hn::Abs(z.re), y = hn::Abs(z.im), half = number(1.57079632679489661923);
  V t = Atan()(D(), hn::Div(hn::Min(x, y), hn::Max(x, y)));
  t = hn::IfThenElse(hn::Gt(y, x), hn::Sub(half, t), t);
  // Not Lt: the angle of -0 + 0 i is pi.
  const auto is_left =
      hn::RebindMask(D(), hn::TestBit(hn::BitCast(hn::RebindToUnsigned<D>(), z.re),
                                      hn::Set(hn::RebindToUnsigned<D>(), uint64_t{1} << 63)));
  t = hn::IfThenElse(is_left, hn::Sub(hn::Add(half, half), t), t);
  return hn::CopySign(t, z.im);
}

/// log |z| = log(u) / 2, where u is |z|^2 rounded; the rounding error of u matters near |z| = 1.
struct ComplexLog {
  Z operator()(const Z& z) const {
    const V x = hn::Mul(z.re, z.re), y = hn::Mul(z.im, z.im);  // exact
    const V large = hn::Max(x, y), small = hn::Min(x, y), u = hn::Add(large, small);
    const V rest = hn::Sub(small, hn::Sub(u, large));
    const V log = hn::Add(hn::Log(D(), u), hn::Div(rest, u));
    return {hn::Mul(log, number(0.5)), angle_of(z)};
  }
};

struct ComplexLog2 {
  Z operator()(const Z& z) const { return scaled(ComplexLog()(z), 1.44269504088896340736); }
};
struct ComplexLog10 {
  Z operator()(const Z& z) const { return scaled(ComplexLog()(z), 0.43429448190325182765); }
};

/// For complex64 operands: the squares neither overflow nor underflow in float64.
struct ComplexSqrt {
  Z operator()(const Z& z) const {
    const V x = hn::Abs(z.re), y = hn::Abs(z.im), half = number(0.5);
    const V large = hn::Sqrt(hn::Mul(hn::Add(hn::Sqrt(norm(z)), x), half));
    const V small = hn::Div(hn::Mul(y, half), large);
    const auto is_left = hn::Lt(z.re, hn::Zero(D()));
    return {hn::IfThenElse(is_left, small, large),
            hn::CopySign(hn::IfThenElse(is_left, large, small), z.im)};
  }
};

struct ComplexRsqrt {
  Z operator()(const Z& z) const { return Reciprocal<ScaledQuotient>()(ComplexSqrt()(z)); }
};

/// (e^x - e^-x) / 2 and (e^x + e^-x) / 2.
struct Hyperbolic {
  explicit HWY_INLINE Hyperbolic(V x) {
    const V size = hn::Abs(x), half = number(0.5);
    const V m = Expm1()(D(), size), below = hn::Div(m, hn::Add(m, number(1)));
    sinh = hn::CopySign(hn::Mul(half, hn::Add(m, below)), x);
    const V e = hn::Add(m, number(1));
    cosh = hn::Mul(half, hn::Add(e, hn::Div(number(1), e)));
  }
  V sinh, cosh;
};

struct ComplexSinh {
  Z operator()(const Z& z) const {
    const Hyperbolic h(z.re);
    return {hn::Mul(h.sinh, cosine(z.im)), hn::Mul(h.cosh, sine(z.im))};
  }
};
struct ComplexCosh {
  Z operator()(const Z& z) const {
    const Hyperbolic h(z.re);
    return {hn::Mul(h.cosh, cosine(z.im)), hn::Mul(h.sinh, sine(z.im))};
  }
};
/// (sinh x cosh x + i sin y cos y) / (sinh^2 x + cos^2 y).
struct ComplexTanh {
  Z operator()(const Z& z) const {
    const Hyperbolic h(z.re);
    const V c = cosine(z.im), below = hn::MulAdd(h.sinh, h.sinh, hn::Mul(c, c));
    return {hn::Div(hn::Mul(h.sinh, h.cosh), below), hn::Div(hn::Mul(sine(z.im), c), below)};
  }
};

/// f(i z) / i
template <class F>
struct Turned {
  Z operator()(const Z& z) const {
    const Z t = F()({hn::Neg(z.im), z.re});
    return {t.im, hn::Neg(t.re)};
  }
};
struct ComplexCos {
  Z operator()(const Z& z) const { return ComplexCosh()({hn::Neg(z.im), z.re}); }
};

struct ComplexSigmoid {
  Z operator()(const Z& z) const {
    const Z e = ComplexExp()({hn::Neg(z.re), hn::Neg(z.im)});
    return Reciprocal<ScaledQuotient>()({hn::Add(e.re, number(1)), e.im});
  }
};

/// z / |z|; for parts of float32.
struct ComplexSign {
  Z operator()(const Z& z) const {
    const V below = hn::Div(number(1), hn::Sqrt(norm(z)));
    return {hn::Mul(z.re, below), hn::Mul(z.im, below)};
  }
};

/// e^(b log a)
struct ComplexPow {
  Z operator()(const Z& a, const Z& b) const { return ComplexExp()(product(b, ComplexLog()(a))); }
};

}  // namespace
}  // namespace ambit::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
