// Checks indices for the kernels that use them.
#pragma once

#include <ambit/tensor.h>

#include <cstdint>

namespace ambit::cpu {

/// Errors: IndexError, naming `op`, if an index is outside of [0, bound).
void check_indices(const char* op, const Tensor& index, int64_t bound);

}  // namespace ambit::cpu
