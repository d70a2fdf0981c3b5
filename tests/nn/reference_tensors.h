// Tensors on the reference device, created from and compared with plain numbers, without ops that
// are tested elsewhere.
#pragma once

#include <ambit/ops/creation.h>
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>
#include <vector>

namespace reference_tensors {

using ambit::dtype_of;
using ambit::IntArrayRef;
using ambit::Tensor;

inline constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
inline constexpr double kInf = std::numeric_limits<double>::infinity();
inline constexpr float kNaNf = std::numeric_limits<float>::quiet_NaN();

// vector<bool> has no data(), so tests write bools as 0 and 1.
template <class T>
using Values = std::vector<std::conditional_t<std::is_same_v<T, bool>, char, T>>;

template <class T>
Tensor make(const Values<T>& values, IntArrayRef sizes) {
  Tensor t = ambit::empty(sizes, ambit::TensorOptions(dtype_of<T>).device("reference"));
  std::copy(values.begin(), values.end(), t.data_ptr<T>());
  return t;
}
template <class T>
Tensor make(const Values<T>& values) {
  return make<T>(values, {static_cast<int64_t>(values.size())});
}
template <class T>
Tensor blank(IntArrayRef sizes) {
  return ambit::empty(sizes, ambit::TensorOptions(dtype_of<T>).device("reference"));
}
template <class T>
Values<T> values(const Tensor& t) {
  const T* p = t.data_ptr<T>();
  return Values<T>(p, p + t.numel());
}

// Compare: equal, NaN equals NaN, and 0 differs from -0; or within a relative and absolute
// tolerance.
template <class T>
void check_values(const Tensor& t, const Values<T>& expected, double tolerance = 0) {
  const Values<T> got = values<T>(t);
  REQUIRE(got.size() == expected.size());
  for (size_t i = 0; i < got.size(); ++i) {
    INFO("element ", i, ": expected ", expected[i], ", got ", got[i]);
    const auto a = static_cast<double>(got[i]), b = static_cast<double>(expected[i]);
    if (std::isnan(b)) {
      CHECK(std::isnan(a));
    } else if (tolerance == 0) {
      CHECK(got[i] == expected[i]);
      CHECK(std::signbit(a) == std::signbit(b));
    } else {
      CHECK(std::abs(a - b) <= tolerance * (1 + std::abs(b)));
    }
  }
}

// The bound: at most a dozen float64 operations, each with an error of at most an ulp of 2.2e-16.
inline constexpr double kRounding64 = 12 * 2.2e-16;

}  // namespace reference_tensors
