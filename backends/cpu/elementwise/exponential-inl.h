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

#include "exp_parts-inl.h"
#include "math_steps-inl.h"

HWY_BEFORE_NAMESPACE();
namespace ambit::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// e^x. Intermediate results are scaled, by 2^64 for results below 1 and by 2^-64 for others; the
/// last product removes the factor. So they neither overflow nor underflow.
struct Exp {
  template <class D, class V = hn::Vec<D>>
  V operator()(D d, V x) const {
    constexpr bool kIsFloat = sizeof(hn::TFromD<D>) == 4;
    const V v = at_least(d, kIsFloat ? -125 : -752, at_most(d, kIsFloat ? 104 : 720, x));
    const auto below = hn::Lt(v, hn::Zero(d));
    const V shift = hn::IfThenElse(below, constant(d, 64), constant(d, -64));
    const V scale = hn::IfThenElse(below, constant(d, kDown), constant(d, kUp));
    const ExpParts<D> e(d, v, shift);
    return hn::Mul(hn::Mul(hn::Add(e.high, e.low), e.power), scale);
  }
};

/// (e^x - 1) / 2 as the sum of `value` and a `rest` below its last place.
template <class D, class V = hn::Vec<D>>
struct HalfExpm1 {
  /// Requires x from -40 to 89 for float, from -40 to 710 for double.
  HWY_INLINE HalfExpm1(D d, V x) {
    const ReducedExp<D> e(d, x, hn::Zero(d), constant(d, -1));
    // `first` is the larger term unless it is 0, so that `lost` below is exact.
    const V half = constant(d, 0.5), first = hn::Sub(e.power, half);
    const V second = hn::Mul(e.power, e.high), sum = hn::Add(first, second);
    const V lost =
        hn::Add(hn::Sub(second, hn::Sub(sum, first)), hn::Sub(hn::Sub(e.power, first), half));
    const V low = hn::MulAdd(e.power, e.low(d), lost);
    value = hn::Add(sum, low);
    rest = hn::Sub(low, hn::Sub(value, sum));
  }
  V value, rest;
};

struct Expm1 {
  template <class D, class V = hn::Vec<D>>
  V operator()(D d, V x) const {
    const V most = constant(d, sizeof(hn::TFromD<D>) == 4 ? 89 : 710), least = constant(d, -40);
    const V v = hn::IfThenElse(hn::Gt(x, most), most, hn::IfThenElse(hn::Lt(x, least), least, x));
    const HalfExpm1<D> half(d, v);
    const V y = hn::Add(half.value, half.value);
    // Return tiny x itself: subnormal numbers cannot be halved exactly, and -0 must stay -0.
    return hn::IfThenElse(hn::Lt(hn::Abs(x), constant(d, 0x1p-60)), x, y);
  }
};

struct Log {
  template <class D, class V = hn::Vec<D>>
  V operator()(D d, V x) const {
    return corrected(d, x, hn::Log(d, x));
  }
  /// Return y; where log(x) is infinite or NaN, return that.
  template <class D, class V = hn::Vec<D>>
  static HWY_INLINE V corrected(D d, V x, V y) {
    const V zero = hn::Zero(d), inf = infinity(d);
    y = hn::IfThenElse(hn::Eq(x, inf), inf, y);
    y = hn::IfThenElse(hn::Eq(x, zero), hn::Neg(inf), y);
    // For x negative or NaN the comparison is false.
    return hn::IfThenElse(hn::Ge(x, zero), y, hn::NaN(d));
  }
};

/// Return log(u + rest) in float for a normal u = 2^k (1 + f), f from sqrt(1/2) - 1 to sqrt(2) - 1;
/// NaN if rest is NaN.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V log_of_sum(D d, V u, V rest) {
  const hn::RebindToSigned<D> di;
  const V one = constant(d, 1);
  const auto bits = hn::BitCast(di, u);
  const auto exponent = hn::ShiftRight<23>(hn::Sub(bits, hn::Set(di, 0x3f3504f3)));
  const V k = hn::ConvertTo(d, exponent);
  const V f = hn::Sub(hn::BitCast(d, hn::Sub(bits, hn::ShiftLeft<23>(exponent))), one);
  // rest / 2^k, which does not matter for k above 126; below, 1 / (1 + f) is 1 - f + f^2.
  const auto least = hn::Min(exponent, hn::Set(di, 126));
  const auto power = hn::ShiftLeft<23>(hn::Sub(hn::Set(di, 127), least));
  const V scaled = hn::Mul(rest, hn::BitCast(d, power));
  // (log(1 + f) - f + f^2 / 2) / f^3: a minimax polynomial for the relative error, 6e-9.
  // It is evaluated in two halves, because a long chain of dependent products has a higher latency.
  static constexpr double kHigh[] = {-0.076344299074909042, 0.1276155036025465,
                                     -0.13160195053077417, 0.1420176246702842};
  static constexpr double kLow[] = {-0.16623356479383086, 0.20001226667459748, -0.25000821056214961,
                                    0.33333331709694936};
  const V square = hn::Mul(f, f);
  const V series =
      hn::MulAdd(polynomial(d, kHigh, f), hn::Mul(square, square), polynomial(d, kLow, f));
  const V bend = hn::MulAdd(series, f, constant(d, -0.5));
  // log(2) in two parts; the first has so few bits that its product with k is exact.
  const V high = hn::Mul(k, constant(d, 0.693145751953125)), sum = hn::Add(high, f);
  V low = hn::MulAdd(k, constant(d, 1.42860682030941723212e-6),
                     hn::NegMulAdd(scaled, hn::NegMulAdd(f, f, f), scaled));
  low = hn::Add(low, hn::Sub(f, hn::Sub(sum, high)));
  return hn::Add(sum, hn::MulAdd(square, bend, low));
}

struct Log1p {
  template <class D, class V = hn::Vec<D>>
  requires(sizeof(hn::TFromD<D>) == 4) V operator()(D d, V x) const {
    const V one = constant(d, 1), u = hn::Add(one, x);
    const V more = hn::Max(one, x), rest = hn::Sub(hn::Min(one, x), hn::Sub(u, more));
    // The result has the sign of x, also for -0.
    const V y = hn::CopySign(log_of_sum(d, u, rest), x);
    const auto is_plain = hn::And(hn::Gt(u, hn::Zero(d)), hn::Lt(u, infinity(d)));
    return HWY_LIKELY(hn::AllTrue(d, is_plain)) ? y : Log::corrected(d, u, y);
  }
  template <class D, class V = hn::Vec<D>>
  requires(sizeof(hn::TFromD<D>) == 8) V operator()(D d, V x) const {
    const V inf = infinity(d), minus_one = constant(d, -1);
    V y = hn::Log1p(d, x);
    y = hn::IfThenElse(hn::Eq(x, inf), inf, y);
    y = hn::IfThenElse(hn::Eq(x, minus_one), hn::Neg(inf), y);
    return hn::IfThenElse(hn::Ge(x, minus_one), y, hn::NaN(d));
  }
};

/// Limit x so that kDown e^-x is a normal number; for x above 40, 1 + e^-x rounds to 1.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V limited(D d, V x) {
  return at_least(d, kLeast<hn::TFromD<D>>, at_most(d, 40, x));
}

/// Return kDown (1 + e^-(x + rest)), rounded once apart from the error of the smaller term.
template <class D, class V = hn::Vec<D>, class... Rest>
HWY_INLINE V one_plus_exp(D d, V x, Rest... rest) {
  const ExpSum<D, true> e(d, limited(d, x), constant(d, -64), rest...);
  return hn::MulAdd(e.power, e.value, hn::MulAdd(e.power, e.lost, constant(d, kDown)));
}

struct Sigmoid {
  template <class D, class V = hn::Vec<D>>
  V operator()(D d, V x) const {
    return hn::Div(constant(d, kDown), one_plus_exp(d, x));
  }
};

/// Return x sigmoid(u + rest), where u has the sign of x and |u| >= |x|.
template <class D, class V = hn::Vec<D>, class... Rest>
HWY_INLINE V times_sigmoid(D d, V x, V u, Rest... rest) {
  const V below = one_plus_exp(d, u, rest...);
  const auto is_zero = hn::Lt(u, constant(d, kLeast<hn::TFromD<D>>));
  // The quotient is scaled by kUp, so that tiny results are rounded only by this product.
  const V y = hn::Mul(hn::Div(x, hn::IfThenElse(is_zero, infinity(d), below)), constant(d, kDown));
  return hn::IfThenElse(hn::Gt(x, constant(d, 40)), x, y);
}

struct Log2 {  // computed in double for float, whose results are then exact at powers of two
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

/// log(x / (1 - x)). Near x = 1/2 the result is small, so the rounding errors of 1 - x and of the
/// quotient y matter: they change it by rest / x, rest = x - y (1 - x). The correction has the
/// factor 4 (1 - x): near 1/2 it is nearly 1 / x, and near 1, where `rest` is inexact, it is small.
struct Logit {
  template <class D, class V = hn::Vec<D>>
  V operator()(D d, V x) const {
    const V one = constant(d, 1), below = hn::Sub(one, x), y = hn::Div(x, below);
    const V lost = hn::Sub(hn::Sub(one, below), x), slope = hn::Mul(below, constant(d, 4));
    const V rest = hn::NegMulAdd(y, lost, minus_product(d, x, y, below));
    const V log = hn::MulAdd(slope, rest, hn::Log(d, y));
    const auto is_plain = hn::And(hn::Gt(y, hn::Zero(d)), hn::Lt(y, infinity(d)));
    return HWY_LIKELY(hn::AllTrue(d, is_plain)) ? log : Log::corrected(d, y, log);
  }
};

/// log(1 + e^x) for finite e^x. log_of_sum() gets the rounding error of 1 + e^x as its second
/// operand.
struct LogOnePlusExp {
  template <class D, class V = hn::Vec<D>>
  requires(sizeof(hn::TFromD<D>) == 4) V operator()(D d, V x) const {
    const ExpSum<D> e(d, at_least(d, kLeast<float>, x), constant(d, 64));
    const V one = constant(d, 1), power = hn::Mul(e.power, constant(d, kDown));
    const V sum = hn::MulAdd(power, e.value, one);
    const V lost = plus_product(d, hn::Sub(one, sum), power, e.value);
    return log_of_sum(d, sum, hn::MulAdd(power, e.lost, lost));
  }
  template <class D, class V = hn::Vec<D>>
  requires(sizeof(hn::TFromD<D>) == 8) V operator()(D d, V x) const {
    return Log1p()(d, Exp()(d, x));
  }
};

/// 1 / sqrt(x): an estimate y, corrected by the residual 1 - x y^2.
struct Rsqrt {
  template <class D, class V = hn::Vec<D>>
  V operator()(D d, V x) const {
    const V one = constant(d, 1);
    V y, factor = constant(d, 0.5);
    const auto correction = [&] {
      const V root = hn::Mul(x, y), lost = rest_of_product(d, x, y, root);
      return hn::NegMulAdd(lost, y, minus_product(d, one, root, y));
    };
    V rest;
#if HWY_TARGET <= HWY_AVX3 && HWY_ARCH_X86
    if constexpr (sizeof(hn::TFromD<D>) == 4 && hn::MaxLanes(D()) == 16) {
      y = hn::ApproximateReciprocalSqrt(x);  // within 2^-14, also for subnormal numbers
      rest = correction();
      factor = hn::MulAdd(rest, constant(d, 0.375), factor);
    } else
#endif
    {
      y = hn::Div(one, hn::Sqrt(x));
      rest = correction();
    }
    // The correction is NaN if y is 0 or infinite.
    const V exact = hn::MulAdd(hn::Mul(rest, factor), y, y);
    return hn::IfThenElse(hn::IsNaN(exact), y, exact);
  }
};

/// log(e^a + e^b) = max(a, b) + log(1 + e^-|a - b|). Equal infinities are a special case: their
/// difference is NaN.
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
