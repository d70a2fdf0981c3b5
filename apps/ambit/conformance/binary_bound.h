// Error bounds of the binary functions, and their operands.
#pragma once

#include <ambit/function_table.h>
#include <ambit/scalar.h>

#include <type_traits>
#include <vector>

#include "bound.h"
#include "values.h"

namespace conformance {

/// The dtypes that a function is tested with. core computes nextafter of 16-bit floats without the
/// kernel.
inline ambit::DTypeSet dtypes_of(ambit::BinaryOp op) {
  return op == ambit::BinaryOp::nextafter ? row_of(op).dtypes
                                          : ambit::dtypes::with_reduced_floating(row_of(op).dtypes);
}

inline bool is_division(ambit::BinaryOp op) {
  return row_of(op).refuses != ambit::FunctionRow::Refuses::none;
}

inline Bound bound_of(ambit::BinaryOp op, ambit::DType dtype) {
  switch (op) {
    case ambit::BinaryOp::pow:
    case ambit::BinaryOp::atan2:
      return {5, 0, "libm is accurate to 4 ulp, and the reference rounds once more"};
    case ambit::BinaryOp::hypot:
    case ambit::BinaryOp::xlogy:
      return {5, 0, "libm is accurate to 4 ulp, and the reference rounds once more"};
    case ambit::BinaryOp::logaddexp:
    case ambit::BinaryOp::logaddexp2:
      return {5, 4 * epsilon(dtype),
              "libm is accurate to 4 ulp of numbers up to 4, which may cancel"};
    case ambit::BinaryOp::zeta:
      return {64, 64 * epsilon(dtype),
              "a sum of powers, each accurate to some ulp of an increasing one"};
    case ambit::BinaryOp::relu_grad:
    case ambit::BinaryOp::sigmoid_grad:
    case ambit::BinaryOp::tanh_grad:
      return {4, 16 * epsilon(dtype),
              "three roundings of numbers up to 3 * 3 * (1 + 9), where 1 - y cancels"};
    case ambit::BinaryOp::gelu_grad:
      return {5, 16 * epsilon(dtype), "libm is accurate to 4 ulp of numbers up to 3"};
    case ambit::BinaryOp::gelu_tanh_grad:
      return {8, 64 * epsilon(dtype),
              "of numbers up to 3, s + x u' s (1 - s): s accurate to 4 ulp and |u| < 9 roundings"};
    case ambit::BinaryOp::silu_grad:
    case ambit::BinaryOp::mish_grad:
    case ambit::BinaryOp::logit_loss:
      return {
          8, 32 * epsilon(dtype),
          "functions of libm, each accurate to 4 ulp, of numbers up to 3, in sums that may cancel"};
    case ambit::BinaryOp::hardswish_grad:
      return {2, 8 * epsilon(dtype), "a sum of roundings that may cancel, times up to 3"};
    case ambit::BinaryOp::selu_grad:
    case ambit::BinaryOp::logsigmoid_grad:
    case ambit::BinaryOp::elu:
      return {8, 0, "libm is accurate to 4 ulp, and two products or quotients"};
    case ambit::BinaryOp::celu:
    case ambit::BinaryOp::softplus:
      return {24, 0, "two functions of libm, each accurate to 4 ulp, of a rounded number up to 9"};
    case ambit::BinaryOp::smooth_l1:
    case ambit::BinaryOp::huber:
      return {3, 0, "three roundings"};
    default:
      return {ambit::is_floating_point(dtype) ? 1.0 : 0.0, 0, "one rounding"};
  }
}

/// Divisors for integers: neither 0 nor -1, because the least integer divided by -1 overflows.
inline Values divisors() {
  return each([]<class T>(Random& random, int64_t) {
    T v = any_value<T>(random);
    while (v == T(0) || (std::is_integral_v<T> && v == static_cast<T>(-1)))
      v = any_value<T>(random);
    return v;
  });
}

/// Return the values of operand b for values `values` of a: divisors, or the parameter of a
/// function.
inline Values second_of(ambit::BinaryOp op, const Values& values) {
  if (is_division(op)) return divisors();
  switch (op) {
    case ambit::BinaryOp::celu:
    case ambit::BinaryOp::softplus:
    case ambit::BinaryOp::smooth_l1:
    case ambit::BinaryOp::huber:
      return between(0.5, 3);
    default:
      return values;
  }
}

/// Scalar operands for a tensor of a dtype; neither 0 nor -1.
inline std::vector<ambit::Scalar> numbers(ambit::DType dtype) {
  if (dtype == ambit::kBool) return {true};
  if (is_floating_point(dtype)) return {2, -2.5, 0.7};
  return {3, -7, 100};
}

/// Ops whose result is exact for any operands, including infinities, NaN and denormals.
inline bool is_special(ambit::BinaryOp op) {
  switch (op) {
    case ambit::BinaryOp::add:
    case ambit::BinaryOp::sub:
    case ambit::BinaryOp::mul:
    case ambit::BinaryOp::div:
    case ambit::BinaryOp::maximum:
    case ambit::BinaryOp::minimum:
      return true;
    default:
      return false;
  }
}

}  // namespace conformance
