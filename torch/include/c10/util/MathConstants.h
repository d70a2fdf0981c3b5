// c10::pi<T> and other constants.
#pragma once

#include <torch/namespaces.h>

#include <numbers>

namespace c10 {

#define AMBIT_TORCH_CONSTANT(name, value) \
  template <class T>                      \
  inline constexpr T name = static_cast<T>(value);
AMBIT_TORCH_CONSTANT(e, std::numbers::e)
AMBIT_TORCH_CONSTANT(euler, std::numbers::egamma)
AMBIT_TORCH_CONSTANT(frac_1_pi, std::numbers::inv_pi)
AMBIT_TORCH_CONSTANT(frac_1_sqrt_pi, std::numbers::inv_sqrtpi)
AMBIT_TORCH_CONSTANT(frac_sqrt_2, std::numbers::sqrt2 / 2)
AMBIT_TORCH_CONSTANT(frac_sqrt_3, std::numbers::inv_sqrt3)
AMBIT_TORCH_CONSTANT(golden_ratio, std::numbers::phi)
AMBIT_TORCH_CONSTANT(ln_10, std::numbers::ln10)
AMBIT_TORCH_CONSTANT(ln_2, std::numbers::ln2)
AMBIT_TORCH_CONSTANT(log_10_e, std::numbers::log10e)
AMBIT_TORCH_CONSTANT(log_2_e, std::numbers::log2e)
AMBIT_TORCH_CONSTANT(pi, std::numbers::pi)
AMBIT_TORCH_CONSTANT(sqrt_2, std::numbers::sqrt2)
AMBIT_TORCH_CONSTANT(sqrt_3, std::numbers::sqrt3)
#undef AMBIT_TORCH_CONSTANT

}  // namespace c10
