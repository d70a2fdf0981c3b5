// What the functions of binary promise, and the operands that they take.
#pragma once

#include <ambit/function_table.h>

#include <type_traits>

#include "bound.h"
#include "values.h"

namespace conformance {

/// The dtypes that a function is tried with. The next number of 16 bits is core's to find.
inline ambit::DTypeSet dtypes_of(ambit::BinaryOp op) {
  return op == ambit::BinaryOp::nextafter ? row_of(op).dtypes
                                          : ambit::dtypes::widened(row_of(op).dtypes);
}

inline bool is_division(ambit::BinaryOp op) {
  return row_of(op).refuses != ambit::Function::Refuses::none;
}

inline Bound bound_of(ambit::BinaryOp op, ambit::DType dtype) {
  switch (op) {
    case ambit::BinaryOp::pow:
    case ambit::BinaryOp::atan2:
      return {5, 0, "maths is good to 4 ulp, and the reference rounds once more"};
    case ambit::BinaryOp::hypot:
    case ambit::BinaryOp::xlogy:
      return {5, 0, "maths is good to 4 ulp, and the reference rounds once more"};
    case ambit::BinaryOp::logaddexp:
    case ambit::BinaryOp::logaddexp2:
      return {5, 4 * epsilon(dtype), "maths good to 4 ulp of numbers up to 4, which may cancel"};
    case ambit::BinaryOp::zeta:
      return {64, 64 * epsilon(dtype), "a sum of powers, each good to some ulp of a growing one"};
    case ambit::BinaryOp::relu_grad:
    case ambit::BinaryOp::sigmoid_grad:
    case ambit::BinaryOp::tanh_grad:
      return {4, 16 * epsilon(dtype),
              "three roundings of numbers up to 3 * 3 * (1 + 9), where 1 - y cancels"};
    case ambit::BinaryOp::gelu_grad:
      return {5, 16 * epsilon(dtype), "maths good to 4 ulp of numbers up to 3"};
    case ambit::BinaryOp::gelu_tanh_grad:
      return {8, 64 * epsilon(dtype),
              "of numbers up to 3, s + x u' s (1 - s): s good to 4 ulp and |u| < 9 roundings"};
    default:
      return {ambit::is_floating_point(dtype) ? 1.0 : 0.0, 0, "one rounding"};
  }
}

/// Divisors that integers have: neither 0 nor -1, by which the least integer cannot be divided.
inline Values divisors() {
  return each([]<class T>(Random& random, int64_t) {
    T v = any_value<T>(random);
    while (v == T(0) || (std::is_integral_v<T> && v == static_cast<T>(-1)))
      v = any_value<T>(random);
    return v;
  });
}

/// Ops whose result is exact for any two numbers, infinities, NaN and denormals among them.
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
