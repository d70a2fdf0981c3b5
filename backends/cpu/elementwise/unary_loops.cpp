// Inner loops y = op(x) of all unary functions.
#include "backends/cpu/runtime/simd_targets.h"
#include "inner_loops.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/elementwise/unary_loops.cpp"
#include <ambit/backend/functors.h>
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "activations-inl.h"
#include "inner_loops-inl.h"

HWY_BEFORE_NAMESPACE();
namespace ambit::cpu::HWY_NAMESPACE {
namespace {

#define AMBIT_VECTORS(Name)                  \
  struct Name {                              \
    template <class D, class V = hn::Vec<D>> \
    V operator()(D, V x) const {             \
      return hn::Name(x);                    \
    }                                        \
  }
AMBIT_VECTORS(Floor);
AMBIT_VECTORS(Ceil);
AMBIT_VECTORS(Round);  // half to even
AMBIT_VECTORS(Trunc);
#undef AMBIT_VECTORS

/// The loop of a function for elements of T: the functor's, unless specialised below.
template <UnaryOp op, class T>
constexpr UnaryLoop kLoop = element_unary<arithmetic::ResultOf<op, T>, T, arithmetic::Functor<op>>;

// Functions with vector implementations.
#define AMBIT_VECTORS(name, F) \
  template <class T>           \
  constexpr UnaryLoop kLoop<UnaryOp::name, T> = vector_unary<T, F>;
// Functions whose float32 vectors are computed in float64; for float64 they are vector loops.
#define AMBIT_THROUGH_DOUBLE(name, F)               \
  template <>                                       \
  constexpr UnaryLoop kLoop<UnaryOp::name, float> = \
      vector_unary<float, ThroughDouble<F>, HalfFloats>;
// clang-format off
AMBIT_VECTORS(exp, Exp)
AMBIT_VECTORS(expm1, Expm1)
AMBIT_VECTORS(log, Log)
AMBIT_VECTORS(log1p, Log1p)
AMBIT_THROUGH_DOUBLE(log2, Log2)
AMBIT_THROUGH_DOUBLE(log10, Log10)
AMBIT_VECTORS(sin, Sin)
AMBIT_VECTORS(cos, Cos)
AMBIT_THROUGH_DOUBLE(tan, Tan)
AMBIT_VECTORS(asin, Asin)
AMBIT_VECTORS(acos, Acos)
AMBIT_VECTORS(atan, Atan)
AMBIT_THROUGH_DOUBLE(sinh, Sinh)
AMBIT_THROUGH_DOUBLE(cosh, Cosh)
AMBIT_VECTORS(tanh, Tanh)
AMBIT_VECTORS(sigmoid, Sigmoid)
AMBIT_VECTORS(logit, Logit)
AMBIT_VECTORS(gelu, Gelu)
AMBIT_VECTORS(gelu_tanh, GeluTanh)
AMBIT_VECTORS(silu, Silu)
AMBIT_VECTORS(mish, Mish)
AMBIT_VECTORS(selu, Selu)
AMBIT_VECTORS(logsigmoid, LogSigmoid)
AMBIT_VECTORS(hardsigmoid, HardSigmoid)
AMBIT_VECTORS(hardswish, HardSwish)
AMBIT_VECTORS(erf, Erf)
AMBIT_THROUGH_DOUBLE(erfinv, ErfInv)
AMBIT_THROUGH_DOUBLE(i0, I0)
AMBIT_THROUGH_DOUBLE(sinc, Sinc)
AMBIT_VECTORS(floor, Floor)
AMBIT_VECTORS(ceil, Ceil)
AMBIT_VECTORS(round, Round)
AMBIT_VECTORS(trunc, Trunc)
// clang-format on

// Functions of float computed by the C library's functions of double, accurate to a float's digits.
template <UnaryOp op>
struct InDouble {
  float operator()(float x) const {
    return static_cast<float>(arithmetic::Functor<op>()(double{x}));
  }
};
#define AMBIT_IN_DOUBLE(name)                       \
  template <>                                       \
  constexpr UnaryLoop kLoop<UnaryOp::name, float> = \
      element_unary<float, float, InDouble<UnaryOp::name>>;
AMBIT_IN_DOUBLE(lgamma)
#if HWY_TARGET == HWY_SCALAR || HWY_TARGET == HWY_EMU128  // vectors of one lane are slower
AMBIT_IN_DOUBLE(rsqrt)
AMBIT_IN_DOUBLE(asinh)
AMBIT_IN_DOUBLE(acosh)
AMBIT_IN_DOUBLE(atanh)
AMBIT_IN_DOUBLE(erfc)
#else
AMBIT_VECTORS(rsqrt, Rsqrt)
AMBIT_THROUGH_DOUBLE(asinh, Asinh)
AMBIT_THROUGH_DOUBLE(acosh, Acosh)
AMBIT_THROUGH_DOUBLE(atanh, Atanh)
template <>
constexpr UnaryLoop kLoop<UnaryOp::erfc, float> = vector_unary<float, Erfc>;
#endif
#undef AMBIT_IN_DOUBLE
#undef AMBIT_VECTORS
#undef AMBIT_THROUGH_DOUBLE

#define AMBIT_LOOPS(name, set, ...) \
  loops_by_dtype<dtypes::set>([]<class T>() { return kLoop<UnaryOp::name, T>; }),
constexpr std::array kLoops{AMBIT_UNARY_FUNCTIONS(AMBIT_LOOPS)};
#undef AMBIT_LOOPS

UnaryLoop find_unary(UnaryOp op, DType dtype) {
  return kLoops[static_cast<size_t>(op)][static_cast<size_t>(dtype)];
}

}  // namespace
}  // namespace ambit::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ambit::cpu {

HWY_EXPORT(find_unary);
UnaryLoop unary_loop(UnaryOp op, DType dtype) {
  return HWY_DYNAMIC_DISPATCH(find_unary)(op, dtype);
}

}  // namespace ambit::cpu
#endif
