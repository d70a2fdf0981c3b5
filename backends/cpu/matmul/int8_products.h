// Sums of int8 products. They are exact: no instruction saturates, on any CPU.
#pragma once

#include <cstdint>

namespace ambit::cpu {

/// The pitch of int8 rows is a multiple of this; rows are zero-padded.
inline constexpr int64_t kInt8Pitch = 64;

/// Operands: x [rows,K] in padded rows, w [columns,K] in contiguous rows.
struct Int8Block {
  int64_t rows, columns, K;
  const int8_t* x;
  int64_t pitch;          // of x's rows
  const int32_t* totals;  // [rows], sums of x's rows
  const int8_t* w;
};

/// sums[m * stride + n] = sum over k of x[m,k] w[n,k], computed on the calling thread.
using Int8Products = void(const Int8Block& block, int32_t* sums, int64_t stride);

/// The version for Highway: products in int16, whose pairs are added in int32.
Int8Products int8_products;
/// The version for AVX512_VNNI: four products of bytes per step. Null if the CPU lacks it or
/// AMBIT_CPU_ISA is below avx512_bf16.
Int8Products* int8_products_vnni();

/// q [K], zero-padded to `pitch`, = x [K] quantised as quantize_rows (ambit/ops/quantized.h) does.
struct Int8Row {
  float scale;
  int32_t total;  // sum of q
};
Int8Row quantize_row(int64_t K, int8_t* q, int64_t pitch, const float* x);

}  // namespace ambit::cpu
