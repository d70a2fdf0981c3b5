// The innermost loops of elementwise kernels: n contiguous elements each, chosen once per call by
// op and dtype. y may be an operand itself, else nothing overlaps. They are compiled once for each
// instruction set (simd_targets.h) and the best is taken at run time.
#pragma once

#include <ambit/dtype.h>
#include <ambit/params.h>

#include <cstdint>

namespace ambit::cpu {

using UnaryRow = void (*)(int64_t n, void* y, const void* x);
using BinaryRow = void (*)(int64_t n, void* y, const void* a, const void* b);
using WhereRow = void (*)(int64_t n, void* y, const void* condition, const void* a, const void* b);

/// y = op(x); null where the op is not for this dtype.
UnaryRow unary_row(UnaryOp op, DType dtype);
/// y = op(a, b); null where the op is not for this dtype. Integer divisors must have been checked.
BinaryRow binary_row(BinaryOp op, DType dtype);
/// y (bool) = op(a, b).
BinaryRow compare_row(CompareOp op, DType dtype);
/// y = condition (bool) ? a : b, for elements of this size.
WhereRow where_row(size_t element_size);
/// y = x, converted.
UnaryRow cast_row(DType to, DType from);

}  // namespace ambit::cpu
