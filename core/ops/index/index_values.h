// Checks of the values in index tensors, where the host can see them.
#pragma once

#include <ambit/tensor.h>

namespace ambit {

/// Throw IndexError "gather: expected an index in [0, 3) for dim 1, got 5".
[[noreturn]] void throw_index(const char* op, int64_t low, int64_t high, int64_t dim, int64_t got);

/// Check that all of `index` (int64) lies in [low, high). Only where the host reads it without
/// waiting: elsewhere the kernel checks each as it reads it. Errors: IndexError.
void check_index_values(const char* op, const Tensor& index, int64_t low, int64_t high,
                        int64_t dim);

}  // namespace ambit
