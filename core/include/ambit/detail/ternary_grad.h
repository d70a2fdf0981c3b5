// Gradients that are one kernel of three operands: those of maps, which have a factor or parameter
// as their last, of losses and of binary maps.
#pragma once

#include <ambit/function_table.h>
#include <ambit/tensor.h>

namespace ambit {

/// Return op(g, b, c), with b and c broadcast and converted to what g is. Where gradients are
/// recorded, as in double backward, it is written in ops, which have them.
AMBIT_API Tensor ternary_grad(TernaryOp op, const Tensor& g, const Tensor& b, const Tensor& c);
/// The same of a number.
AMBIT_API Tensor ternary_grad(TernaryOp op, const Tensor& g, const Tensor& b, double number);

}  // namespace ambit
