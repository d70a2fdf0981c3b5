// Functors selected at run time, so that one kernel per dtype serves a family: for integers, bool
// and comparisons, which are memory-bound. Functions of floats have a kernel each, so that each
// uses only the registers that it needs.
#pragma once

#include <ambit/backend/functors.h>

#include <concepts>
#include <limits>
#include <type_traits>

#include "backends/cuda/driver/fault.h"

namespace ambit::cuda {

/// Unary functions of a T with result R: T, or bool.
template <class R, class T>
struct ChosenUnary {
  AMBIT_HOST_DEVICE R operator()(T x) const {
    switch (op) {
#define AMBIT_CASE(name, ...) \
  case UnaryOp::name:         \
    return map<UnaryOp::name>(x);
      AMBIT_UNARY_FUNCTIONS(AMBIT_CASE)
#undef AMBIT_CASE
    }
    return R{};
  }
  template <UnaryOp function>
  AMBIT_HOST_DEVICE static R map(T x) {
    if constexpr (arithmetic::OperandOf<T, function>) {
      if constexpr (std::same_as<arithmetic::ResultOf<function, T>, R>) {
        return arithmetic::Functor<function>()(x);
      }
    }
    return R{};
  }

  UnaryOp op;
};

/// Binary functions of integers. Refused operands are reported, and their results not written
/// (map.cuh).
template <std::integral T>
struct ChosenBinary {
  AMBIT_HOST_DEVICE bool refuses(T a, T b) const {
    switch (op) {
#define AMBIT_CASE(name, ...) \
  case BinaryOp::name:        \
    return refused<row_of(BinaryOp::name).refuses>(a, b);
      AMBIT_BINARY_FUNCTIONS(AMBIT_CASE)
#undef AMBIT_CASE
    }
    return false;
  }
  /// Requires !refuses(a, b).
  AMBIT_HOST_DEVICE T operator()(T a, T b) const {
    switch (op) {
#define AMBIT_CASE(name, ...) \
  case BinaryOp::name:        \
    return map<BinaryOp::name>(a, b);
      AMBIT_BINARY_FUNCTIONS(AMBIT_CASE)
#undef AMBIT_CASE
    }
    return T{};
  }
  template <BinaryOp function>
  AMBIT_HOST_DEVICE static T map(T a, T b) {
    if constexpr (arithmetic::OperandOf<T, function>) {
      return arithmetic::Functor<function>()(a, b);
    }
    return T{};
  }
  template <FunctionRow::Refuses what>
  AMBIT_HOST_DEVICE bool refused(T a, T b) const {
    if constexpr (what != FunctionRow::Refuses::none) {
      if (b == T{0}) {
        faults.report(FaultKind::divisor, 0, 0);
        return true;
      }
    }
    if constexpr (what == FunctionRow::Refuses::overflow && std::signed_integral<T>) {
      if (b == -1 && a == std::numeric_limits<T>::min()) {
        faults.report(FaultKind::quotient, a, static_cast<int64_t>(dtype_of<T>));
        return true;
      }
    }
    return false;
  }

  BinaryOp op;
  FaultSink faults;
};

template <class T>
struct ChosenCompare {
  AMBIT_HOST_DEVICE bool operator()(T a, T b) const {
    switch (op) {
#define AMBIT_CASE(name) \
  case CompareOp::name:  \
    return arithmetic::Functor<CompareOp::name>()(a, b);
      AMBIT_COMPARE_FUNCTIONS(AMBIT_CASE)
#undef AMBIT_CASE
    }
    return false;
  }

  CompareOp op;
};

}  // namespace ambit::cuda
