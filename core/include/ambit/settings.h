// Switches between speed, precision and repeatability, for the whole process. Backends read them at
// every call; one that has no use for a switch ignores it.
#pragma once

#include <ambit/api.h>

namespace ambit {

/// Let float32 matrix products and convolutions round their inputs to TensorFloat-32 (10 bits of
/// mantissa) where the device is faster so. Off at first: float32 is float32.
AMBIT_API void allow_tf32(bool allowed);
/// Return the switch.
AMBIT_API bool is_tf32_allowed();

/// Use only algorithms that give the same bits every time; ops without one throw
/// NotImplementedError naming the op. Off at first.
AMBIT_API void set_deterministic(bool deterministic);
/// Return the switch.
AMBIT_API bool is_deterministic();

/// Choose convolution algorithms by trying them, once for each shape, in place of the library's
/// guess: slow at first, faster for ever after. Off at first.
AMBIT_API void set_benchmark(bool benchmark);
/// Return the switch.
AMBIT_API bool is_benchmark();

}  // namespace ambit
