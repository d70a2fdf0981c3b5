// y = op(x) on rows.
#include "backends/cpu/runtime/simd_targets.h"
#include "rows.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/elementwise/unary_rows.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <cmath>

#include "arithmetic.h"
#include "math-inl.h"
#include "rows-inl.h"

HWY_BEFORE_NAMESPACE();
namespace ambit::cpu::HWY_NAMESPACE {
namespace {

#define AMBIT_MAP(Name, expression) \
  struct Name {                     \
    template <class T>              \
    auto operator()(T x) const {    \
      return expression;            \
    }                               \
  }
AMBIT_MAP(Neg, wrap_sub(T(0), x));
AMBIT_MAP(Abs, magnitude(x));
AMBIT_MAP(Sign, (x > T(0)) - (x < T(0)));
AMBIT_MAP(Square, wrap_mul(x, x));
AMBIT_MAP(Relu, x <= T(0) ? T(0) : x);  // NaN stays
AMBIT_MAP(Sqrt, std::sqrt(x));
AMBIT_MAP(Rsqrt, 1 / std::sqrt(x));
AMBIT_MAP(Reciprocal, 1 / x);
AMBIT_MAP(BitwiseNot, ~x);
AMBIT_MAP(LogicalNot, x == T(0));
AMBIT_MAP(IsNan, x != x);
AMBIT_MAP(IsInf, is_infinite(x));
AMBIT_MAP(IsFinite, is_finite(x));
#undef AMBIT_MAP

#define AMBIT_MAP(Name)                      \
  struct Name {                              \
    template <class D, class V = hn::Vec<D>> \
    V operator()(D, V x) const {             \
      return hn::Name(x);                    \
    }                                        \
  }
AMBIT_MAP(Floor);
AMBIT_MAP(Ceil);
AMBIT_MAP(Round);  // halves to even
AMBIT_MAP(Trunc);
#undef AMBIT_MAP

template <class F>
UnaryRow numbers(DType d) {
  return visit(d, []<class T>() -> UnaryRow {
    if constexpr (std::same_as<T, bool>)
      return nullptr;
    else
      return plain_unary<T, T, F>;
  });
}
template <class F>
UnaryRow predicate(DType d) {
  return visit(d, []<class T>() -> UnaryRow { return plain_unary<bool, T, F>; });
}
template <class F>
UnaryRow floats(DType d) {
  if (d == kFloat32) return plain_unary<float, float, F>;
  return d == kFloat64 ? plain_unary<double, double, F> : nullptr;
}
/// double has nothing wider to go through: there it is the C library's function.
template <class F, double (*function)(double)>
UnaryRow through_double(DType d) {
  struct ByLane {
    double operator()(double x) const { return function(x); }
  };
  if (d == kFloat32) return vector_unary<float, ThroughDouble<F>, HalfFloats>;
  return d == kFloat64 ? scalar_unary<double, ByLane> : nullptr;
}
template <class F>
UnaryRow vector_floats(DType d) {
  if (d == kFloat32) return vector_unary<float, F>;
  return d == kFloat64 ? vector_unary<double, F> : nullptr;
}
UnaryRow bitwise_not(DType d) {
  return visit(d, []<class T>() -> UnaryRow {
    if constexpr (std::same_as<T, bool>)
      return plain_unary<bool, bool, LogicalNot>;
    else if constexpr (std::integral<T>)
      return plain_unary<T, T, BitwiseNot>;
    else
      return nullptr;
  });
}

// clang-format off
UnaryRow find_unary(UnaryOp op, DType d) {
  switch (op) {
    case UnaryOp::neg: return numbers<Neg>(d);
    case UnaryOp::abs: return numbers<Abs>(d);
    case UnaryOp::sign: return numbers<Sign>(d);
    case UnaryOp::exp: return vector_floats<Exp>(d);
    case UnaryOp::expm1: return vector_floats<Expm1>(d);
    case UnaryOp::log: return vector_floats<Log>(d);
    case UnaryOp::log1p: return vector_floats<Log1p>(d);
    case UnaryOp::log2: return through_double<Log2, std::log2>(d);
    case UnaryOp::log10: return through_double<Log10, std::log10>(d);
    case UnaryOp::sqrt: return floats<Sqrt>(d);
    case UnaryOp::rsqrt: return floats<Rsqrt>(d);
    case UnaryOp::reciprocal: return floats<Reciprocal>(d);
    case UnaryOp::square: return numbers<Square>(d);
    case UnaryOp::sin: return vector_floats<Sin>(d);
    case UnaryOp::cos: return vector_floats<Cos>(d);
    case UnaryOp::tan: return through_double<Tan, std::tan>(d);
    case UnaryOp::asin: return vector_floats<Asin>(d);
    case UnaryOp::acos: return vector_floats<Acos>(d);
    case UnaryOp::atan: return vector_floats<Atan>(d);
    case UnaryOp::sinh: return through_double<Sinh, std::sinh>(d);
    case UnaryOp::cosh: return through_double<Cosh, std::cosh>(d);
    case UnaryOp::tanh: return vector_floats<Tanh>(d);
    case UnaryOp::sigmoid: return vector_floats<Sigmoid>(d);
    case UnaryOp::relu: return numbers<Relu>(d);
    case UnaryOp::gelu: return vector_floats<Gelu>(d);
    case UnaryOp::erf: return vector_floats<Erf>(d);
    case UnaryOp::floor: return vector_floats<Floor>(d);
    case UnaryOp::ceil: return vector_floats<Ceil>(d);
    case UnaryOp::round: return vector_floats<Round>(d);
    case UnaryOp::trunc: return vector_floats<Trunc>(d);
    case UnaryOp::bitwise_not: return bitwise_not(d);
    case UnaryOp::isnan: return predicate<IsNan>(d);
    case UnaryOp::isinf: return predicate<IsInf>(d);
    case UnaryOp::isfinite: return predicate<IsFinite>(d);
    case UnaryOp::logical_not: return predicate<LogicalNot>(d);
  }
  return nullptr;
}
// clang-format on

}  // namespace
}  // namespace ambit::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ambit::cpu {

HWY_EXPORT(find_unary);
UnaryRow unary_row(UnaryOp op, DType dtype) { return HWY_DYNAMIC_DISPATCH(find_unary)(op, dtype); }

}  // namespace ambit::cpu
#endif
