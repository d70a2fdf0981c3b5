// Inner loops of complex numbers, with the signatures of inner_loops.h.
#pragma once

#include "inner_loops.h"

namespace ambit::cpu {

/// Null for functions without a loop: complex_functions.h computes those. abs writes real numbers.
/// @{
UnaryLoop complex_unary_loop(UnaryOp op, DType dtype);
BinaryLoop complex_binary_loop(BinaryOp op, DType dtype);
/// @}

}  // namespace ambit::cpu
