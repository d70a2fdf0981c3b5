// The operands of the binary functions.
#pragma once

#include <ambit/function_table.h>
#include <ambit/scalar.h>

#include <type_traits>
#include <vector>

#include "bound.h"
#include "values.h"

namespace conformance {

/// The dtypes that a function is tested with. core computes nextafter of float16 and bfloat16
/// without the kernel.
inline ambit::DTypeSet dtypes_of(ambit::BinaryOp op) {
  return op == ambit::BinaryOp::nextafter ? row_of(op).dtypes
                                          : ambit::dtypes::with_reduced_floating(row_of(op).dtypes);
}

inline bool is_division(ambit::BinaryOp op) {
  return row_of(op).refuses != ambit::FunctionRow::Refuses::none;
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
