// Elementwise kernels of complex numbers.
#pragma once

#include <ambit/function_table.h>
#include <ambit/tensor.h>

namespace ambit::cpu {

void complex_unary(Tensor& y, const Tensor& x, UnaryOp op);
void complex_binary(Tensor& y, const Tensor& a, const Tensor& b, BinaryOp op);

}  // namespace ambit::cpu
