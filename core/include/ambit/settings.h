// Process-wide switches for speed, precision and determinism. Backends read them at every call and
// ignore switches that do not apply to them.
#pragma once

#include <ambit/api.h>

namespace ambit {

/// Let float32 matrix products and convolutions round their inputs to TensorFloat-32 (10 bits of
/// mantissa) where that is faster. Default: off.
AMBIT_API void allow_tf32(bool allowed);
/// Return the switch.
AMBIT_API bool is_tf32_allowed();

/// Use only algorithms that give bitwise identical results in every run; ops without one throw
/// NotImplementedError naming the op. Default: off.
AMBIT_API void set_deterministic(bool deterministic);
/// Return the switch.
AMBIT_API bool is_deterministic();

/// Choose convolution algorithms by timing them once for each shape instead of by the library's
/// heuristic: the first call of a shape is slow, later ones are faster. Default: off.
AMBIT_API void set_benchmark(bool benchmark);
/// Return the switch.
AMBIT_API bool is_benchmark();

}  // namespace ambit
