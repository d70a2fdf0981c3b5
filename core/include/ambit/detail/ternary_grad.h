// Gradients computed by one ternary kernel: of maps (the last operand is a factor or parameter), of
// losses and of binary maps.
#pragma once

#include <ambit/function_table.h>
#include <ambit/tensor.h>

namespace ambit {

/// Return op(g, b, c), with b and c broadcast to g's sizes and converted to its dtype. If gradients
/// are recorded, as in double backward, it is composed of differentiable ops instead.
AMBIT_API Tensor ternary_grad(TernaryOp op, const Tensor& g, const Tensor& b, const Tensor& c);
/// As above, with a number for c.
AMBIT_API Tensor ternary_grad(TernaryOp op, const Tensor& g, const Tensor& b, double number);

}  // namespace ambit
