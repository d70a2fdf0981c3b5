// Checks of the values in index tensors that the host can read.
#pragma once

#include <ambit/tensor.h>

namespace ambit {

/// Throw IndexError "gather: expected an index in [0, 3) for dim 1, got 5".
[[noreturn]] void throw_index(const char* op, int64_t low, int64_t high, int64_t dim, int64_t got);

/// Check that all of `index` (int64) is in [low, high), if the host can read it without waiting;
/// otherwise the kernel checks each value when it reads it. Errors: IndexError.
void check_index_values(const char* op, const Tensor& index, int64_t low, int64_t high,
                        int64_t dim);

}  // namespace ambit
