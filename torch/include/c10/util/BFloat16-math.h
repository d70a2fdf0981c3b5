// std::exp(x) and other functions for c10::BFloat16: computed in float, then rounded.
#pragma once

#include <c10/util/BFloat16.h>

#include <cmath>

namespace std {

#define AMBIT_TORCH_MATH(name) \
  inline c10::BFloat16 name(c10::BFloat16 a) { return std::name(static_cast<float>(a)); }
AMBIT_TORCH_MATH(acos)
AMBIT_TORCH_MATH(asin)
AMBIT_TORCH_MATH(atan)
AMBIT_TORCH_MATH(erf)
AMBIT_TORCH_MATH(erfc)
AMBIT_TORCH_MATH(exp)
AMBIT_TORCH_MATH(expm1)
AMBIT_TORCH_MATH(log)
AMBIT_TORCH_MATH(log10)
AMBIT_TORCH_MATH(log1p)
AMBIT_TORCH_MATH(log2)
AMBIT_TORCH_MATH(ceil)
AMBIT_TORCH_MATH(cos)
AMBIT_TORCH_MATH(floor)
AMBIT_TORCH_MATH(nearbyint)
AMBIT_TORCH_MATH(sin)
AMBIT_TORCH_MATH(tan)
AMBIT_TORCH_MATH(sinh)
AMBIT_TORCH_MATH(cosh)
AMBIT_TORCH_MATH(tanh)
AMBIT_TORCH_MATH(trunc)
AMBIT_TORCH_MATH(lgamma)
AMBIT_TORCH_MATH(sqrt)
AMBIT_TORCH_MATH(abs)
#undef AMBIT_TORCH_MATH
inline c10::BFloat16 rsqrt(c10::BFloat16 a) { return 1 / std::sqrt(static_cast<float>(a)); }
inline c10::BFloat16 pow(c10::BFloat16 a, double b) {
  return static_cast<float>(std::pow(static_cast<float>(a), b));
}
inline c10::BFloat16 pow(c10::BFloat16 a, c10::BFloat16 b) {
  return std::pow(static_cast<float>(a), static_cast<float>(b));
}
inline c10::BFloat16 fmod(c10::BFloat16 a, c10::BFloat16 b) {
  return std::fmod(static_cast<float>(a), static_cast<float>(b));
}

}  // namespace std
