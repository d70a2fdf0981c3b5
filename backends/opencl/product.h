// Matrix products by the kernel of matmul.cl, also used by convolutions.
#pragma once

#include <ambit/tensor.h>

#include "launch.h"

namespace ambit::opencl {

/// Product of matmul.cl: y[g] [M,N] = sum over r of a[g,r] [M,K] b[g,r] [K,N].
struct Product {
  cl_long M = 0, N = 0, K = 0, batches = 1, repeats = 1, period = 1;
  cl_long a_batch = 0, a_period = 0, a_repeat = 0, a_row = 0, a_step = 0;
  cl_long b_batch = 0, b_repeat = 0, b_step = 0;
  cl_long accumulate = 0;
};

/// Queue a product; y is contiguous, b's columns are adjacent, bias may be undefined.
void multiply(const char* op, const Product& p, Tensor& y, const Tensor& a, const Tensor& b,
              const Tensor& bias);

}  // namespace ambit::opencl
