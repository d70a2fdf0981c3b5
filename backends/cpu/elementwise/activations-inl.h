// Activations, elementwise losses and their gradients on vectors, with the formulas of functors.h
// in backends/include: each result needs one exponential, and nothing overflows. Included once per
// instruction set.
#if defined(AMBIT_CPU_ACTIVATIONS_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef AMBIT_CPU_ACTIVATIONS_INL_H
#undef AMBIT_CPU_ACTIVATIONS_INL_H
#else
#define AMBIT_CPU_ACTIVATIONS_INL_H
#endif

#include "math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace ambit::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// Compute F on x by a call; inlining would duplicate F in each function below, for each dtype and
/// instruction set.
template <class F, class D>
HWY_NOINLINE hn::Vec<D> call(D d, hn::Vec<D> x) {
  return F()(d, x);
}

/// Return e^-|x|.
struct ExpOfMinusAbs {
  template <class D, class V = hn::Vec<D>>
  V operator()(D d, V x) const {
    return exp_of_negative(d, hn::Neg(hn::Abs(x)));
  }
};

/// Return log(1 + e^-|x|).
struct LogOfTail {
  template <class D, class V = hn::Vec<D>>
  V operator()(D d, V x) const {
    if constexpr (sizeof(hn::TFromD<D>) == 8) return Log1p()(d, call<ExpOfMinusAbs>(d, x));
    return call<LogOnePlusExp>(d, hn::Neg(hn::Abs(x)));
  }
};

struct Silu {
  template <class D, class V = hn::Vec<D>>
  V operator()(D d, V x) const {
    return times_sigmoid(d, x, x);
  }
};

/// dy times the slope. For x > 0 the slope is 1 - slope(-x), else, with t = -x and e = e^-t, it is
///   e (1 - t + e) / (1 + e)^2.
/// The factor 1 - t + e is 0 at a t0, near which its terms would cancel. So it is computed as
/// c + e0 (e^c - 1), c = t0 - t, e0 = e at t0: both terms have the sign of c.
struct SiluGrad {
  template <class D, class V = hn::Vec<D>>
  V operator()(D d, V dy, V x) const {
    const V e0 = constant(d, 0.2784645427610738), one = constant(d, 1);
    const V t = at_most(d, -kLeast<hn::TFromD<D>>, hn::Abs(x));
    const Distance<D> c(d, 1.2784645427610737, 1.0946994183093437e-16, t);
    const ExpParts<D> e(d, c.difference, constant(d, 64), c.lost);
    const V power = hn::Mul(e.power, constant(d, kDown));
    const V factor = hn::MulAdd(e0, less_one(d, e, power), c.value);
    const V value = hn::Mul(hn::Add(e.high, e.low), e0), below = hn::MulAdd(value, power, one);
    const V y = hn::Div(hn::Mul(value, factor), hn::Mul(below, below));
    const V slope = hn::Mul(hn::Mul(y, e.power), constant(d, kDown));
    const auto negative = hn::Lt(x, hn::Zero(d));
    // Infinities give NaN.
    return hn::Mul(
        dy, hn::MulAdd(x, hn::Zero(d), hn::IfThenElse(negative, slope, hn::Sub(one, slope))));
  }
};

/// x a / (a + 2), a = e^x (e^x + 2).
struct Mish {
  template <class D, class V = hn::Vec<D>>
  V operator()(D d, V x) const {
    const V two = constant(d, 2), least = constant(d, kLeast<hn::TFromD<D>>);
    const V v = at_least(d, kLeast<hn::TFromD<D>>, at_most(d, 20, x));
    const ExpSum<D> e(d, v, constant(d, 64));
    const V power = hn::Mul(e.power, constant(d, kDown));
    const V more = hn::MulAdd(power, e.value, two);
    const V lost = plus_product(d, hn::Sub(two, more), power, e.value);
    // `above` is a / power, which does not underflow; the last product multiplies by the power.
    const V slope = hn::MulSub(two, more, two);
    const V above = hn::MulAdd(e.value, more, hn::MulAdd(e.lost, slope, hn::Mul(e.value, lost)));
    const V scale = hn::IfThenElseZero(hn::Ge(x, least), e.power);
    const V y = hn::Div(hn::Mul(hn::Mul(x, scale), above), hn::MulAdd(power, above, two));
    return hn::IfThenElse(hn::Gt(x, constant(d, 20)), x, hn::Mul(y, constant(d, kDown)));
  }
};

/// dy times the slope e w / (e^2 + 2 e + 2)^2, w = 4 (x + 1) + (4 x + 6) e + 4 e^2 + e^3, e = e^x.
/// w is 0 at an x0, near which its terms would cancel. So it is computed as follows, with e0 = e at
/// x0, c = x - x0 and m = e^c - 1:
///   4 (1 + e0) c + m ((4 x + 6) e0 + 4 (m + 2) e0^2 + ((m + 3) m + 3) e0^3).
struct MishGrad {
  template <class D, class V = hn::Vec<D>>
  V operator()(D d, V dy, V x) const {
    constexpr double kE0 = 0.3034825352815289, kLow = kLeast<hn::TFromD<D>>;
    const V v = at_most(d, 20, at_least(d, kLow, x)), two = constant(d, 2);
    const Distance<D> c(d, 1.1924312145154952, 4.8484829848031044e-17, hn::Neg(v));
    const ExpParts<D> e(d, c.difference, constant(d, 64), c.lost);
    const V power = hn::Mul(e.power, constant(d, kDown)), m = less_one(d, e, power);
    V factor = hn::MulAdd(v, constant(d, 4 * kE0),
                          constant(d, 6 * kE0 + 8 * kE0 * kE0 + 3 * kE0 * kE0 * kE0));
    const V bend = hn::MulAdd(m, constant(d, kE0 * kE0 * kE0),
                              constant(d, 4 * kE0 * kE0 + 3 * kE0 * kE0 * kE0));
    factor = hn::MulAdd(m, bend, factor);
    factor = hn::MulAdd(m, factor, hn::Mul(c.value, constant(d, 4 + 4 * kE0)));
    const V value = hn::Mul(hn::Add(e.high, e.low), constant(d, kE0)), exp = hn::Mul(value, power);
    const V below = hn::MulAdd(exp, hn::Add(exp, two), two);
    const V y = hn::Div(hn::Mul(value, factor), hn::Mul(below, below));
    const V slope = hn::Mul(hn::Mul(y, e.power), constant(d, kDown));
    return hn::Mul(dy, hn::MulAdd(x, hn::Zero(d), slope));  // infinities give NaN
  }
};

struct Selu {
  template <class D, class V = hn::Vec<D>>
  V operator()(D d, V x) const {
    using arithmetic::kSeluAlpha, arithmetic::kSeluScale;
    const V below = hn::Mul(constant(d, kSeluScale * kSeluAlpha), call<Expm1>(d, x));
    return hn::IfThenElse(hn::Le(x, hn::Zero(d)), below, hn::Mul(constant(d, kSeluScale), x));
  }
};

struct SeluGrad {
  template <class D, class V = hn::Vec<D>>
  V operator()(D d, V dy, V x) const {
    using arithmetic::kSeluAlpha, arithmetic::kSeluScale;
    const V below = hn::Mul(constant(d, kSeluScale * kSeluAlpha), call<Exp>(d, x));
    const V slope = hn::IfThenElse(hn::Le(x, hn::Zero(d)), below, constant(d, kSeluScale));
    return hn::Mul(dy, slope);
  }
};

/// In float it is computed by log_of_sum(), which makes it monotone near 0.
struct LogSigmoid {
  template <class D, class V = hn::Vec<D>>
  V operator()(D d, V x) const {
    if constexpr (sizeof(hn::TFromD<D>) == 8) {
      return hn::Sub(hn::Min(x, hn::Zero(d)), LogOfTail()(d, x));
    } else {
      const V y = call<LogOnePlusExp>(d, at_most(d, 20, hn::Neg(x)));
      return hn::IfThenElse(hn::Lt(x, constant(d, -20)), x, hn::Neg(y));
    }
  }
};

struct LogSigmoidGrad {
  template <class D, class V = hn::Vec<D>>
  V operator()(D d, V dy, V x) const {
    return hn::Mul(dy, Sigmoid()(d, hn::Neg(x)));
  }
};

struct Elu {
  template <class D, class V = hn::Vec<D>>
  V operator()(D d, V x, V alpha) const {
    return hn::IfThenElse(hn::Le(x, hn::Zero(d)), hn::Mul(alpha, call<Expm1>(d, x)), x);
  }
};

struct EluGrad {
  template <class D, class V = hn::Vec<D>>
  V operator()(D d, V dy, V x, V alpha) const {
    const V below = hn::Mul(dy, hn::Mul(alpha, call<Exp>(d, x)));
    return hn::IfThenElse(hn::Le(x, hn::Zero(d)), below, dy);
  }
};

struct Celu {
  template <class D, class V = hn::Vec<D>>
  V operator()(D d, V x, V alpha) const {
    const V below = hn::Mul(alpha, call<Expm1>(d, hn::Div(x, alpha)));
    return hn::IfThenElse(hn::Le(x, hn::Zero(d)), below, x);
  }
};

struct CeluGrad {
  template <class D, class V = hn::Vec<D>>
  V operator()(D d, V dy, V x, V alpha) const {
    const V below = hn::Mul(dy, call<Exp>(d, hn::Div(x, alpha)));
    return hn::IfThenElse(hn::Le(x, hn::Zero(d)), below, dy);
  }
};

struct Softplus {
  template <class D, class V = hn::Vec<D>>
  V operator()(D d, V x, V beta) const {
    const V z = hn::Mul(x, beta), y = hn::Div(call<LogOnePlusExp>(d, at_most(d, 20, z)), beta);
    return hn::IfThenElse(hn::Gt(z, constant(d, arithmetic::kSoftplusThreshold)), x, y);
  }
};

struct SoftplusGrad {
  template <class D, class V = hn::Vec<D>>
  V operator()(D d, V dy, V x, V beta) const {
    const V z = hn::Mul(x, beta), dx = hn::Mul(dy, Sigmoid()(d, z));
    return hn::IfThenElse(hn::Gt(z, constant(d, arithmetic::kSoftplusThreshold)), dy, dx);
  }
};

struct LogitLoss {
  template <class D, class V = hn::Vec<D>>
  V operator()(D d, V x, V t) const {
    const V below = hn::Min(x, hn::Zero(d)), rest = hn::Sub(constant(d, 1), t);
    return hn::Add(hn::MulSub(rest, x, below), LogOfTail()(d, x));
  }
};

struct LogitLossGrad {
  template <class D, class V = hn::Vec<D>>
  V operator()(D d, V dy, V x, V t) const {
    const V one = constant(d, 1), e = call<ExpOfMinusAbs>(d, x);
    const V less = hn::Div(e, hn::Add(one, e));
    const V slope =
        hn::IfThenElse(hn::Lt(x, hn::Zero(d)), hn::Sub(less, t), hn::Sub(hn::Sub(one, t), less));
    return hn::Mul(dy, slope);
  }
};

/// Return dy * e^a / (e^a + e^b).
struct LogAddExpGrad {
  template <class D, class V = hn::Vec<D>>
  V operator()(D d, V dy, V a, V b) const {
    return hn::Div(dy, hn::Add(constant(d, 1), call<Exp>(d, hn::Sub(b, a))));
  }
};

/// The vector version of arithmetic::hard_sigmoid.
struct HardSigmoid {
  template <class D, class V = hn::Vec<D>>
  V operator()(D d, V x) const {
    const V six = constant(d, 6), sum = hn::Add(x, constant(d, 3));
    return keep_nan(d, x, hn::Div(hn::Min(hn::Max(sum, hn::Zero(d)), six), six));
  }
};

struct HardSigmoidGrad {
  template <class D, class V = hn::Vec<D>>
  V operator()(D d, V dy, V x) const {
    return hn::IfThenElseZero(hn::Lt(hn::Abs(x), constant(d, 3)), hn::Div(dy, constant(d, 6)));
  }
};

struct HardSwish {
  template <class D, class V = hn::Vec<D>>
  V operator()(D d, V x) const {
    return hn::Mul(x, HardSigmoid()(d, x));
  }
};

struct HardSwishGrad {
  template <class D, class V = hn::Vec<D>>
  V operator()(D d, V dy, V x) const {
    const V three = constant(d, 3), slope = hn::Add(hn::Div(x, three), constant(d, 0.5));
    const V within = hn::IfThenElse(hn::Lt(x, three), hn::Mul(dy, slope), dy);
    return hn::IfThenElse(hn::Le(x, hn::Neg(three)), hn::Zero(d), within);
  }
};

struct LeakyRelu {
  template <class D, class V = hn::Vec<D>>
  V operator()(D d, V x, V slope) const {
    return hn::IfThenElse(hn::Gt(x, hn::Zero(d)), x, hn::Mul(slope, x));
  }
};

struct LeakyReluGrad {
  template <class D, class V = hn::Vec<D>>
  V operator()(D d, V dy, V x, V slope) const {
    return hn::IfThenElse(hn::Gt(x, hn::Zero(d)), dy, hn::Mul(slope, dy));
  }
};

struct SmoothL1 {
  template <class D, class V = hn::Vec<D>>
  V operator()(D d, V x, V beta) const {
    const V half = constant(d, 0.5), size = hn::Abs(x);
    const V near = hn::Div(hn::Mul(hn::Mul(half, x), x), beta);
    return hn::IfThenElse(hn::Lt(size, beta), near, hn::Sub(size, hn::Mul(half, beta)));
  }
};

struct SmoothL1Grad {
  template <class D, class V = hn::Vec<D>>
  V operator()(D, V dy, V x, V beta) const {
    const V near = hn::IfThenElse(hn::Ge(x, beta), dy, hn::Mul(dy, hn::Div(x, beta)));
    return hn::IfThenElse(hn::Le(x, hn::Neg(beta)), hn::Neg(dy), near);
  }
};

struct Huber {
  template <class D, class V = hn::Vec<D>>
  V operator()(D d, V x, V delta) const {
    const V half = constant(d, 0.5), size = hn::Abs(x);
    const V far = hn::Mul(delta, hn::Sub(size, hn::Mul(half, delta)));
    return hn::IfThenElse(hn::Lt(size, delta), hn::Mul(hn::Mul(half, x), x), far);
  }
};

struct HuberGrad {
  template <class D, class V = hn::Vec<D>>
  V operator()(D, V dy, V x, V delta) const {
    const V limit = hn::Mul(delta, dy);
    const V near = hn::IfThenElse(hn::Ge(x, delta), limit, hn::Mul(dy, x));
    return hn::IfThenElse(hn::Le(x, hn::Neg(delta)), hn::Neg(limit), near);
  }
};

/// Return dy / (c x^2 + 1), or dy / (c x^2) for x so large that x^2 may overflow.
struct AtanGrad {
  template <class D, class V = hn::Vec<D>>
  V operator()(D d, V dy, V x, V c) const {
    const V y = hn::Div(dy, hn::MulAdd(c, hn::Mul(x, x), constant(d, 1)));
    const auto is_far = hn::Gt(hn::Abs(x), constant(d, 0x1p32));
    if (HWY_LIKELY(hn::AllFalse(d, is_far))) return y;
    return hn::IfThenElse(is_far, hn::Div(hn::Div(dy, x), hn::Mul(c, x)), y);
  }
};

/// Return dy / sqrt(x^2 + c), c = 1 or -1, or dy / |x| for x so large that x^2 may overflow.
struct AsinhGrad {
  template <class D, class V = hn::Vec<D>>
  V operator()(D d, V dy, V x, V c) const {
    const V size = hn::Abs(x), root = hn::Sqrt(hn::MulAdd(x, x, c));
    return hn::Div(dy, hn::IfThenElse(hn::Gt(size, constant(d, 0x1p32)), size, root));
  }
};

/// Return dy where a is the maximum, half of it where a and b are equal, dy also for NaN.
struct MaximumGrad {
  template <class D, class V = hn::Vec<D>>
  V operator()(D d, V dy, V a, V b) const {
    const V taken = hn::IfThenElse(hn::Eq(a, b), hn::Mul(dy, constant(d, 0.5)), dy);
    return hn::IfThenElse(hn::Lt(a, b), hn::Zero(d), taken);
  }
};
struct MinimumGrad {
  template <class D, class V = hn::Vec<D>>
  V operator()(D d, V dy, V a, V b) const {
    return MaximumGrad()(d, dy, hn::Neg(a), hn::Neg(b));
  }
};

}  // namespace ambit::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
