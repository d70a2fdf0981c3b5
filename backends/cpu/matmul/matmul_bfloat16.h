// bfloat16 products by CPU instructions.
#pragma once

#include <ambit/function_table.h>
#include <ambit/tensor.h>

#include <optional>

namespace ambit::cpu {

/// The reduced floating-point dtypes with products here: bfloat16 if the CPU has AVX512_BF16 or
/// AMX. oneDNN accumulates in float32 and rounds once.
DTypeSet native_products();
/// Return true if the CPU has AMX tiles for bfloat16.
bool has_bfloat16_tiles();

/// As kernels::matmul, and kernels::linear or linear_map; no dim is 0. They return false, having
/// written nothing, once exit() has begun and oneDNN can no longer be used.
[[nodiscard]] bool matmul_bfloat16(const Tensor& y, const Tensor& a, const Tensor& b);
[[nodiscard]] bool linear_bfloat16(const Tensor& y, const Tensor& x, const Tensor& w,
                                   const Tensor& b, std::optional<UnaryOp> map);

}  // namespace ambit::cpu
