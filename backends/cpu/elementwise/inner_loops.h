// The inner loops of elementwise kernels: n contiguous elements each, chosen once per call by
// function and dtype. y may be an operand itself, else nothing overlaps. They are compiled once for
// each instruction set (simd_targets.h) and the best is taken at run time.
#pragma once

#include <ambit/dtype.h>
#include <ambit/function_table.h>

#include <cstdint>

namespace ambit::cpu {

using UnaryLoop = void (*)(int64_t n, void* y, const void* x);
using BinaryLoop = void (*)(int64_t n, void* y, const void* a, const void* b);
using WhereLoop = void (*)(int64_t n, void* y, const void* condition, const void* a, const void* b);

// Dtypes are those that function_table.h names, integer divisors have been checked.

/// y = op(x)
UnaryLoop unary_loop(UnaryOp op, DType dtype);
/// y = op(a, b)
BinaryLoop binary_loop(BinaryOp op, DType dtype);
/// y (bool) = op(a, b)
BinaryLoop compare_loop(CompareOp op, DType dtype);
/// y = condition (bool) ? a : b, for elements of this size.
WhereLoop where_loop(size_t element_size);
/// y = x, converted.
UnaryLoop cast_loop(DType to, DType from);

}  // namespace ambit::cpu
