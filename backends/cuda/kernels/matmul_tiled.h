// Matrix products of any dtype and strides: integers, and layouts that cuBLASLt cannot read.
#pragma once

#include <ambit/tensor.h>

#include "backends/cuda/libraries/matmul_layout.h"

namespace ambit::cuda {

/// y [B,M,N] or [M,N] = a [M,K] b [K,N] + bias [N], which may be undefined; sums are 64 bits wide.
void matmul_tiled(Tensor& y, const Matrices& a, const Matrices& b, const Tensor& bias);

}  // namespace ambit::cuda
