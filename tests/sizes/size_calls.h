// Calls of public functions with a number n as one integer argument; size_limits_test.cpp runs each
// with n from 0 to INT64_MAX. Operands are those of the bad calls, on the default device.
//   SIZE(roll, shifts, m23(), n): roll(m23(), n), for the argument that the header calls shifts.
#pragma once

#include <tuple>
#include <vector>

#include "tests/tables/bad_calls.h"

namespace sizes {

using namespace ambit;
using namespace bad_input;

struct SizeCall {
  const char* function;
  const char* argument;
  const char* text;
  std::vector<Tensor> (*run)(int64_t n);
};

inline std::vector<Tensor> tensors_of(const Tensor& t) { return {t}; }
inline std::vector<Tensor> tensors_of(std::vector<Tensor> list) { return list; }
template <class... T>
std::vector<Tensor> tensors_of(const std::tuple<T...>& results) {
  std::vector<Tensor> all;
  const auto add = [&](const auto& result) {
    for (const Tensor& t : tensors_of(result)) all.push_back(t);
  };
  std::apply([&](const auto&... result) { (add(result), ...); }, results);
  return all;
}

#define SIZE_AS(f, argument, ...)                                                  \
  SizeCall {                                                                       \
#f, #argument, #__VA_ARGS__, [](int64_t n) { return tensors_of(__VA_ARGS__); } \
  }
#define SIZE(f, argument, ...) SIZE_AS(f, argument, f(__VA_ARGS__))

inline Tensor m33() { return ones({3, 3}); }
inline Tensor i33() { return ones({3, 3}, kInt64); }
inline Tensor v3() { return ones({3}); }
inline Tensor cube() { return ones({2, 2, 2}); }
inline Tensor line() { return ones({1, 2, 6}); }
inline Tensor volume() { return ones({1, 2, 6, 6, 6}); }

}  // namespace sizes
