// Matrix products of one warp with the CUDA backend's tensor-core wrappers.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

namespace mma_kernels {

/// How factors are loaded into registers.
enum class By : uint8_t { elements, rows, columns };

/// sums [16,8] += left [16,16] * right [16,8], all row-major, bfloat16 or float16, by one warp.
/// Factors are loaded by elements in PTX order, or by load_matrices, with right transposed in
/// memory or not.
cudaError_t multiply(float* sums, const uint16_t* left, const uint16_t* right, bool is_bfloat16,
                     By by);

/// words[64] = the result of split for x[64], two numbers per thread: high words, then low ones.
cudaError_t split_pairs(uint32_t* words, const float* x, bool is_bfloat16);

}  // namespace mma_kernels
