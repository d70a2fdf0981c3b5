// y = op(a, b) on rows.
#include "backends/cpu/runtime/simd_targets.h"
#include "rows.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/elementwise/binary_rows.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <cmath>

#include "arithmetic.h"
#include "math-inl.h"
#include "rows-inl.h"

HWY_BEFORE_NAMESPACE();
namespace ambit::cpu::HWY_NAMESPACE {
namespace {

#define AMBIT_MAP(Name, expression)   \
  struct Name {                       \
    template <class T>                \
    auto operator()(T a, T b) const { \
      return expression;              \
    }                                 \
  }
AMBIT_MAP(Add, wrap_add(a, b));
AMBIT_MAP(Sub, wrap_sub(a, b));
AMBIT_MAP(Mul, wrap_mul(a, b));
AMBIT_MAP(Div, a / b);
AMBIT_MAP(FloorDivide, floor_divide(a, b));
AMBIT_MAP(TruncDivide, trunc_divide(a, b));
AMBIT_MAP(Remainder, cpu::remainder(a, b));
AMBIT_MAP(Fmod, truncated_remainder(a, b));
AMBIT_MAP(Pow, power(a, b));
AMBIT_MAP(Maximum, maximum(a, b));
AMBIT_MAP(Minimum, minimum(a, b));
AMBIT_MAP(Atan2, std::atan2(a, b));
AMBIT_MAP(BitwiseAnd, a& b);
AMBIT_MAP(BitwiseOr, a | b);
AMBIT_MAP(BitwiseXor, a ^ b);
AMBIT_MAP(ReluGrad, b <= T(0) ? T(0) : a);
AMBIT_MAP(SigmoidGrad, a*((1 - b) * b));
AMBIT_MAP(TanhGrad, a*(1 - b * b));
#undef AMBIT_MAP

/// For any dtype.
template <class F>
BinaryRow all(DType d) {
  return visit(d, []<class T>() -> BinaryRow { return plain_binary<T, T, F>; });
}
template <class F>
BinaryRow numbers(DType d) {
  return visit(d, []<class T>() -> BinaryRow {
    if constexpr (std::same_as<T, bool>)
      return nullptr;
    else
      return plain_binary<T, T, F>;
  });
}
template <class F>
BinaryRow scalar_numbers(DType d) {
  return visit(d, []<class T>() -> BinaryRow {
    if constexpr (std::same_as<T, bool>)
      return nullptr;
    else
      return scalar_binary<T, F>;
  });
}
template <class F>
BinaryRow scalar_floats(DType d) {
  if (d == kFloat32) return scalar_binary<float, F>;
  return d == kFloat64 ? scalar_binary<double, F> : nullptr;
}
template <class F>
BinaryRow bits(DType d) {
  return visit(d, []<class T>() -> BinaryRow {
    if constexpr (std::integral<T>)
      return plain_binary<T, T, F>;
    else
      return nullptr;
  });
}
template <class F>
BinaryRow floats(DType d) {
  if (d == kFloat32) return plain_binary<float, float, F>;
  return d == kFloat64 ? plain_binary<double, double, F> : nullptr;
}
BinaryRow gelu_grad(DType d) {
  if (d == kFloat32) return vector_binary<float, GeluGrad>;
  return d == kFloat64 ? vector_binary<double, GeluGrad> : nullptr;
}

// clang-format off
BinaryRow find_binary(BinaryOp op, DType d) {
  switch (op) {
    case BinaryOp::add: return all<Add>(d);
    case BinaryOp::sub: return numbers<Sub>(d);
    case BinaryOp::mul: return all<Mul>(d);
    case BinaryOp::div: return floats<Div>(d);
    case BinaryOp::floor_divide: return scalar_numbers<FloorDivide>(d);
    case BinaryOp::trunc_divide: return scalar_numbers<TruncDivide>(d);
    case BinaryOp::remainder: return scalar_numbers<Remainder>(d);
    case BinaryOp::fmod: return scalar_numbers<Fmod>(d);
    case BinaryOp::pow: return d == kBool ? scalar_binary<bool, Pow> : scalar_numbers<Pow>(d);
    case BinaryOp::maximum: return all<Maximum>(d);
    case BinaryOp::minimum: return all<Minimum>(d);
    case BinaryOp::atan2: return scalar_floats<Atan2>(d);
    case BinaryOp::bitwise_and: return bits<BitwiseAnd>(d);
    case BinaryOp::bitwise_or: return bits<BitwiseOr>(d);
    case BinaryOp::bitwise_xor: return bits<BitwiseXor>(d);
    case BinaryOp::relu_grad: return floats<ReluGrad>(d);
    case BinaryOp::sigmoid_grad: return floats<SigmoidGrad>(d);
    case BinaryOp::tanh_grad: return floats<TanhGrad>(d);
    case BinaryOp::gelu_grad: return gelu_grad(d);
  }
  return nullptr;
}
// clang-format on

}  // namespace
}  // namespace ambit::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ambit::cpu {

HWY_EXPORT(find_binary);
BinaryRow binary_row(BinaryOp op, DType dtype) {
  return HWY_DYNAMIC_DISPATCH(find_binary)(op, dtype);
}

}  // namespace ambit::cpu
#endif
