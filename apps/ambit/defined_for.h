// Which dtypes the functions of the elementwise families are defined for, as kernels.h says it.
#pragma once

#include <ambit/backend/kernels.h>

bool is_defined_for(ambit::UnaryOp op, ambit::DType dtype);
bool is_defined_for(ambit::BinaryOp op, ambit::DType dtype);

/// Whether the result is bool, whatever the operand.
inline bool makes_bool(ambit::UnaryOp op) { return op >= ambit::UnaryOp::isnan; }
