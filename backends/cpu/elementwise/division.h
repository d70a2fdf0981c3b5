// Checks integer divisors before a kernel writes anything.
#pragma once

#include <ambit/params.h>
#include <ambit/tensor.h>

namespace ambit::cpu {

/// Check op(a, b) for all elements. Requires that the function refuses_some(). Errors: Error.
void check_division(BinaryOp op, const Tensor& a, const Tensor& b);
/// As above, for a tensor and a number.
void check_division(BinaryOp op, const Tensor& x, const ScalarOperand& number);

}  // namespace ambit::cpu
