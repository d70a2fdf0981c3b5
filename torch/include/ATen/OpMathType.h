// at::opmath_type<T>: the type in which kernels compute with T: float for float16 and bfloat16.
#pragma once

#include <c10/core/ScalarType.h>

namespace at {

template <class T>
struct OpMathType {
  using type = T;
};
template <>
struct OpMathType<ambit::Half> {
  using type = float;
};
template <>
struct OpMathType<ambit::BFloat16> {
  using type = float;
};
template <class T>
using opmath_type = typename OpMathType<T>::type;

inline ScalarType toOpMathType(ScalarType type) {
  return type == kHalf || type == kBFloat16 ? kFloat : type;
}

}  // namespace at
