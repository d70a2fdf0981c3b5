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

/// sigmoid(x) and 1 - sigmoid(x), both to full precision.
template <class D, class V = hn::Vec<D>>
struct SigmoidAndRest {
  HWY_INLINE SigmoidAndRest(D d, V x) {
    const V e = call<ExpOfMinusAbs>(d, x), one = constant(d, 1);
    const V more = hn::Div(one, hn::Add(one, e)), less = hn::Mul(e, more);
    const auto negative = hn::Lt(x, hn::Zero(d));
    value = hn::IfThenElse(negative, less, more);
    rest = hn::IfThenElse(negative, more, less);
  }
  V value, rest;
};

/// Return log(1 + e^-|x|).
struct LogOfTail {
  template <class D, class V = hn::Vec<D>>
  V operator()(D d, V x) const {
    return call<Log1p>(d, call<ExpOfMinusAbs>(d, x));
  }
};

struct Silu {
  template <class D, class V = hn::Vec<D>>
  V operator()(D d, V x) const {
    return times_sigmoid(d, x, x, hn::Zero(d));
  }
};

struct SiluGrad {
  template <class D, class V = hn::Vec<D>>
  V operator()(D d, V dy, V x) const {
    const SigmoidAndRest<D> s(d, x);
    return hn::Mul(dy, hn::Mul(s.value, hn::MulAdd(x, s.rest, constant(d, 1))));
  }
};

/// The vector version of arithmetic::MishGate.
template <class D, class V = hn::Vec<D>>
struct MishGate {
  HWY_INLINE MishGate(D d, V x) {
    const V one = constant(d, 1), two = constant(d, 2);
    const auto negative = hn::Lt(x, hn::Zero(d));
    const V e = call<ExpOfMinusAbs>(d, x);
    const V above = hn::IfThenElse(negative, hn::Mul(e, hn::Add(e, two)), hn::MulAdd(two, e, one));
    const V apart = hn::IfThenElse(negative, two, hn::Mul(two, hn::Mul(e, e)));
    const V below = hn::Add(above, apart);
    value = hn::Div(above, below);
    const V s = hn::Div(hn::IfThenElse(negative, e, one), hn::Add(one, e));
    slope = hn::Mul(s, hn::Mul(hn::Div(apart, below), hn::Div(hn::Add(above, below), below)));
  }
  V value, slope;
};

struct Mish {
  template <class D, class V = hn::Vec<D>>
  V operator()(D d, V x) const {
    const V one = constant(d, 1), two = constant(d, 2), down = constant(d, kDown);
    const V minus = hn::Neg(hn::Abs(x)), scaled = scaled_exp(d, minus, hn::Zero(d));
    const V e = hn::Mul(scaled, down), shifted = hn::Add(e, two);
    const auto negative = hn::Lt(x, hn::Zero(d));
    // For negative x, multiply by a scaled e to keep the digits of tiny values.
    const auto is_tiny = hn::Lt(minus, constant(d, kLeast<hn::TFromD<D>>));
    const V tail = hn::Mul(hn::IfThenZeroElse(is_tiny, scaled), shifted);
    const V above = hn::MulAdd(two, e, one);
    const V below = hn::IfThenElse(negative, hn::MulAdd(e, shifted, two),
                                   hn::MulAdd(hn::Mul(two, e), e, above));
    const V y = hn::Div(hn::Mul(x, hn::IfThenElse(negative, tail, above)), below);
    return hn::IfThenElse(negative, hn::Mul(y, down), y);
  }
};

struct MishGrad {
  template <class D, class V = hn::Vec<D>>
  V operator()(D d, V dy, V x) const {
    const MishGate<D> gate(d, x);
    return hn::Mul(dy, hn::MulAdd(x, gate.slope, gate.value));
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

struct LogSigmoid {
  template <class D, class V = hn::Vec<D>>
  V operator()(D d, V x) const {
    return hn::Sub(hn::Min(x, hn::Zero(d)), LogOfTail()(d, x));
  }
};

struct LogSigmoidGrad {
  template <class D, class V = hn::Vec<D>>
  V operator()(D d, V dy, V x) const {
    return hn::Mul(dy, call<Sigmoid>(d, hn::Neg(x)));
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
    const V z = hn::Mul(x, beta), y = hn::Div(call<Log1p>(d, call<Exp>(d, z)), beta);
    return hn::IfThenElse(hn::Gt(z, constant(d, arithmetic::kSoftplusThreshold)), x, y);
  }
};

struct SoftplusGrad {
  template <class D, class V = hn::Vec<D>>
  V operator()(D d, V dy, V x, V beta) const {
    const V z = hn::Mul(x, beta), dx = hn::Mul(dy, call<Sigmoid>(d, z));
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
