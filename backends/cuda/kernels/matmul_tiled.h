// Products of matrices of any dtype and strides: integers, and what cuBLASLt cannot read as it
// lies.
#pragma once

#include <ambit/tensor.h>

#include "backends/cuda/libraries/matmul_layout.h"

namespace ambit::cuda {

/// y [B,M,N] or [M,N] = a [M,K] b [K,N] + bias [N], which may be undefined; sums are kept in 64
/// bits.
void matmul_tiled(Tensor& y, const Matrices& a, const Matrices& b, const Tensor& bias);

}  // namespace ambit::cuda
