// Calls of public functions and methods of several tensors, which mismatch_ops_test.cpp makes with
// each operand in turn on another device; the macros name function, rule and operands:
//   CALL(add, elementwise, given(f(), f()), t[0], t[1]): add(t[0], t[1]) of these operands.
#pragma once

#include <ambit/ambit.h>

#include <functional>
#include <string>
#include <vector>

#include "tests/tables/call_table.h"

namespace mismatch {

using namespace ambit;

using Tensors = std::vector<Tensor>;

enum class Rule {
  strict,                // all on one device
  elementwise,           // 0-dim cpu tensors may be operands
  in_place,              // like strict; the first tensor sets the expected device
  in_place_elementwise,  // the first one sets it; 0-dim cpu tensors may be operands
  indexing,  // the first one sets it; indices and lengths may be on the cpu, and 0-dim values
};

struct Call {
  std::string function;  // as declared, with methods as "Tensor::add"
  Rule rule;
  Tensors operands;  // in the order of the declaration
  std::function<void(const Tensors&)> run;
  std::string op = {};                  // the op in errors, if it is not the function's name
  std::vector<std::string> names = {};  // names of the operands, if the declaration is ambiguous
};

inline Tensors given(auto... t) { return {t...}; }

// The + converts a lambda to a function pointer: these share one instantiation of std::function.
#define CALL(function, rule, operands, ...)                                 \
  Call {                                                                    \
#function, Rule::rule, operands,                                        \
        +[](const Tensors& t) { static_cast<void>(function(__VA_ARGS__)); } \
  }
#define METHOD(method, rule, operands, ...)                                    \
  Call {                                                                       \
    "Tensor::" #method, Rule::rule, operands,                                  \
        +[](const Tensors& t) { static_cast<void>(t[0].method(__VA_ARGS__)); } \
  }
#define BOTH(name, rule, operands, ...) \
  CALL(name, rule, operands, t[0], __VA_ARGS__), METHOD(name, rule, operands, __VA_ARGS__)

inline Call named(Call call, std::vector<std::string> names) {
  call.names = std::move(names);
  return call;
}
inline std::vector<std::string> list(auto... names) { return {names...}; }
// An indexing function and method whose operands have these names.
#define NAMED(names, function, operands, ...)                          \
  named(CALL(function, indexing, operands, t[0], __VA_ARGS__), names), \
      named(METHOD(function, indexing, operands, __VA_ARGS__), names)
inline Call reported_as(Call call, std::string op) {
  call.op = std::move(op);
  return call;
}

inline Tensor f(IntArrayRef sizes = {2, 2}) { return ones(sizes); }
inline Tensor places(IntArrayRef sizes = {2, 2}) { return zeros(sizes, kInt64); }
inline Tensor mask() { return ones({2, 2}, kBool); }

}  // namespace mismatch
