// c10::BFloat16: the upper half of a float.
#pragma once

#include <ambit/half.h>
#include <torch/namespaces.h>

#include <cstdint>

namespace c10 {

using ambit::BFloat16;

}  // namespace c10

namespace ambit {

// Bitwise operators modify and return the first operand, as in libtorch.
#define AMBIT_TORCH_BITS(op)                                     \
  inline BFloat16& operator op(BFloat16& a, const BFloat16& b) { \
    a.x = static_cast<uint16_t>(a.x op b.x);                     \
    return a;                                                    \
  }
AMBIT_TORCH_BITS(|)
AMBIT_TORCH_BITS(^)
AMBIT_TORCH_BITS(&)
#undef AMBIT_TORCH_BITS

}  // namespace ambit
