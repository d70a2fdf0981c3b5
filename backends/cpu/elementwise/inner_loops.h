// The inner loops of elementwise kernels: n contiguous elements each, chosen once per call by
// function and dtype. y may be an operand itself, else nothing overlaps. They are compiled once for
// each instruction set (simd_targets.h) and the best is taken at run time.
#pragma once

#include <ambit/dtype.h>
#include <ambit/function_table.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace ambit::cpu {

using UnaryLoop = void (*)(int64_t n, void* y, const void* x);
using BinaryLoop = void (*)(int64_t n, void* y, const void* a, const void* b);
using WhereLoop = void (*)(int64_t n, void* y, const void* condition, const void* a, const void* b);

// Integer divisors have been checked. Null for a dtype that function_table.h does not name.

/// y = op(x)
UnaryLoop unary_loop(UnaryOp op, DType dtype);
/// y = op(a, b)
BinaryLoop binary_loop(BinaryOp op, DType dtype);
/// y = op(a, b, c), c being n elements, or one for all.
using TernaryLoop = void (*)(int64_t n, void* y, const void* a, const void* b, const void* c,
                             bool one_for_all);
TernaryLoop ternary_loop(TernaryOp op, DType dtype);
/// y (bool) = op(a, b)
BinaryLoop compare_loop(CompareOp op, DType dtype);
/// y = min(max(x, low), high): `clamp` is an arithmetic::Clamp of the dtype.
using ClampLoop = void (*)(int64_t n, void* y, const void* x, const void* clamp);
ClampLoop clamp_loop(DType dtype);
/// dx = dy or 0 by x: `c` is one arithmetic::ClampGrad of the dtype, float32 or float64, for all.
TernaryLoop clamp_grad_loop(DType dtype);
/// y = condition (bool) ? a : b, for elements of this size.
WhereLoop where_loop(size_t element_size);
/// y = x, converted.
UnaryLoop cast_loop(DType to, DType from);

/// What a loop takes elements of T for, if the bits of its results do not depend on a sign: bytes
/// need one loop for both.
template <bool has_no_sign, class T>
using BitsOf = std::conditional_t<has_no_sign && std::is_same_v<T, int8_t>, uint8_t, T>;

/// The loops of one function by dtype, chosen by choose.operator()<T>(); null outside of `set`.
template <DTypeBits set, class Choose>
constexpr auto loops_by_dtype(const Choose& choose) {
  std::array<decltype(visit<set>(DType{}, choose)), kDTypeCount> loops{};
  for (const DType d : DTypeSet(set)) loops[static_cast<size_t>(d)] = visit<set>(d, choose);
  return loops;
}

}  // namespace ambit::cpu
