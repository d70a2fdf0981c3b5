// Calls of public functions whose results agreement_test.cpp compares between devices.
#pragma once

#include <ambit/ambit.h>

#include <functional>
#include <string>
#include <vector>

#include "call_table.h"

namespace agreement {

using namespace ambit;

// Operands of one layout on one device, all of the same shape except b, which may broadcast.
struct Operands {
  Tensor a, b;     // float32, normal
  Tensor unit;     // float32, in (0.05, 0.95)
  Tensor n, m;     // int64, small; m without zeros
  Tensor yes, no;  // bool
  bool is_empty, is_scalar;
};

struct Call {
  const char* function;
  std::function<std::vector<Tensor>(const Operands&)> run;
  bool takes_empty = true, takes_scalar = true;
};

// The + converts a lambda to a function pointer: these share one instantiation of std::function.
#define RESULT(f, ...)                                                                             \
  Call {                                                                                           \
#f, +[]([[maybe_unused]] const Operands& o) -> std::vector < Tensor> { return {__VA_ARGS__}; } \
  }
#define IN_PLACE(f, start, ...)                       \
  Call {                                              \
#f, +[](const Operands& o) -> std::vector<Tensor> { \
    const Tensor x = MADE((start).clone()); x.f(__VA_ARGS__); return {x}; } \
  }

/// Name for tensors that a row creates before or after its function, not the function's own.
inline constexpr const char* kOperand = "operand";
/// Conversion of the floating-point tensors that rows create, set by some tests.
inline std::function<Tensor(const Tensor&)> of_made;
template <class Make>
auto made(const Make& make) {
  const profiler::RecordFunction scope(kOperand);
  auto operand = make();
  if constexpr (std::is_same_v<decltype(operand), Tensor>) {
    if (of_made && operand.is_floating_point()) return of_made(operand);
  }
  return operand;
}
#define MADE(...) agreement::made([&] { return __VA_ARGS__; })

inline Call not_empty(Call c) {
  c.takes_empty = false;
  return c;
}
inline Call with_dims(Call c) {
  c.takes_scalar = false;
  return c;
}
inline Call full_only(Call c) { return not_empty(with_dims(std::move(c))); }

}  // namespace agreement
