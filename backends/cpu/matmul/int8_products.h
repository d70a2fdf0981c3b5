// Sums of products of int8, exact: no step saturates, whatever the CPU has.
#pragma once

#include <cstdint>

namespace ambit::cpu {

/// Rows of int8 in memory are this far apart, or a multiple of it; behind a row's end are zeros.
inline constexpr int64_t kInt8Pitch = 64;

/// What is multiplied: x [rows,K], in padded rows, and w [columns,K], in rows without gaps.
struct Int8Block {
  int64_t rows, columns, K;
  const int8_t* x;
  int64_t pitch;          // of x's rows
  const int32_t* totals;  // [rows], of x's rows
  const int8_t* w;
};

/// sums[m * stride + n] = sum over k of x[m,k] w[n,k]. On the calling thread.
using Int8Products = void(const Int8Block& block, int32_t* sums, int64_t stride);

/// By Highway: products of int16, whose pairs are added as int32.
Int8Products int8_products;
/// By AVX512_VNNI: four products of bytes in a step; null where the CPU has none,
/// or AMBIT_CPU_ISA is below avx512_bf16.
Int8Products* int8_products_vnni();

/// q [K], padded with zeros to `pitch`, = x [K] as quantize_rows (ambit/ops/quantized.h) has it.
struct Int8Row {
  float scale;
  int32_t total;  // of q
};
Int8Row quantize_row(int64_t K, int8_t* q, int64_t pitch, const float* x);

}  // namespace ambit::cpu
