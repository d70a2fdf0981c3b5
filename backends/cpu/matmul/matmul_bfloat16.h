// Products of bfloat16 by the CPU's instructions for them.
#pragma once

#include <ambit/function_table.h>
#include <ambit/tensor.h>

#include <optional>

namespace ambit::cpu {

/// The dtypes of 16 bits whose products are made here: bfloat16 where the CPU has AVX512_BF16 or
/// AMX. oneDNN adds up in float32 and rounds once.
DTypeSet native_products();
/// Whether its products of bfloat16 are of whole tiles: AMX.
bool has_bfloat16_tiles();

/// As kernels::matmul, and kernels::linear or linear_map, nothing being empty. They return false,
/// having written nothing, once the process exits and oneDNN goes.
[[nodiscard]] bool matmul_bfloat16(const Tensor& y, const Tensor& a, const Tensor& b);
[[nodiscard]] bool linear_bfloat16(const Tensor& y, const Tensor& x, const Tensor& w,
                                   const Tensor& b, std::optional<UnaryOp> map);

}  // namespace ambit::cpu
