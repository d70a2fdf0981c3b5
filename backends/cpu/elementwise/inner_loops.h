// Inner loops of elementwise kernels, each on n contiguous elements, chosen once per call by
// function and dtype. y may be one of the operands; otherwise nothing overlaps. They are compiled
// for each instruction set (simd_targets.h), and the best is chosen at run time.
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

// Integer divisors must have been checked. Null for dtypes not in function_table.h.

/// y = op(x)
UnaryLoop unary_loop(UnaryOp op, DType dtype);
/// y = op(a, b)
BinaryLoop binary_loop(BinaryOp op, DType dtype);
/// y = op(a, b, c), where c has n elements, or one if one_for_all.
using TernaryLoop = void (*)(int64_t n, void* y, const void* a, const void* b, const void* c,
                             bool one_for_all);
TernaryLoop ternary_loop(TernaryOp op, DType dtype);
/// y (bool) = op(a, b)
BinaryLoop compare_loop(CompareOp op, DType dtype);
/// y = min(max(x, low), high): `clamp` is an arithmetic::Clamp of the dtype.
using ClampLoop = void (*)(int64_t n, void* y, const void* x, const void* clamp);
ClampLoop clamp_loop(DType dtype);
/// dx = x within the bounds ? dy : 0; `c` points to one arithmetic::ClampGrad, float32 or float64.
TernaryLoop clamp_grad_loop(DType dtype);
/// y = condition (bool) ? a : b, for elements of this size.
WhereLoop where_loop(size_t element_size);
/// y = x, converted.
UnaryLoop cast_loop(DType to, DType from);

/// The type as which a loop processes elements of T: if the bits of its results do not depend on
/// signedness, int8 shares the loop of uint8.
template <bool has_no_sign, class T>
using BitsOf = std::conditional_t<has_no_sign && std::is_same_v<T, int8_t>, uint8_t, T>;

/// Return the loops of one function by dtype, from choose.operator()<T>(); null outside of `set`.
template <DTypeBits set, class Choose>
constexpr auto loops_by_dtype(const Choose& choose) {
  std::array<decltype(visit<set>(DType{}, choose)), kDTypeCount> loops{};
  for (const DType d : DTypeSet(set)) loops[static_cast<size_t>(d)] = visit<set>(d, choose);
  return loops;
}

}  // namespace ambit::cpu
