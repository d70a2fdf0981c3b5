// Products of one warp by the CUDA backend's wrappers of tensor cores.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

namespace mma_kernels {

/// How the factors come into registers.
enum class By : uint8_t { elements, rows, columns };

/// sums [16,8] += left [16,16] * right [16,8], all row-major, of bfloat16 or float16, by one warp:
/// element by element as PTX numbers them; or by load_matrices, of right transposed in memory, or
/// as it is.
cudaError_t multiply(float* sums, const uint16_t* left, const uint16_t* right, bool is_bfloat16,
                     By by);

/// words[64] = what split makes of x[64], two numbers to a thread: high words, then low ones.
cudaError_t split_pairs(uint32_t* words, const float* x, bool is_bfloat16);

}  // namespace mma_kernels
