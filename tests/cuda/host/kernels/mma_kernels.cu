#include "mma_kernels.h"

#include "backends/cuda/loops/mma.cuh"

namespace mma_kernels {
namespace {

using ambit::BFloat16, ambit::Half;

template <class T>
__global__ void multiply_kernel(float* sums, const uint16_t* left, const uint16_t* right, By by) {
  // PTX ISA's formulas, for elements ai, bi and ci.
  const unsigned group = threadIdx.x >> 2, in_group = threadIdx.x % 4;
  uint32_t a[4] = {}, b[2] = {};
  float c[4];
  if (by == By::elements) {
    for (unsigned i = 0; i < 8; ++i) {
      const unsigned row = i < 2 || (4 <= i && i < 6) ? group : group + 8;
      const unsigned column = in_group * 2 + (i & 1) + (i < 4 ? 0 : 8);
      a[i / 2] |= uint32_t{left[row * 16 + column]} << 16 * (i % 2);
    }
    for (unsigned i = 0; i < 4; ++i) {
      const unsigned row = in_group * 2 + (i & 1) + (i < 2 ? 0 : 8);
      b[i / 2] |= uint32_t{right[row * 8 + group]} << 16 * (i % 2);
    }
  } else {
    struct alignas(16) Matrix {
      uint16_t rows[16][16];
    };
    __shared__ Matrix of_left, of_right;  // of_right is [16,8], or [8,16]
    for (unsigned i = threadIdx.x; i < 256; i += 32) of_left.rows[i / 16][i % 16] = left[i];
    for (unsigned i = threadIdx.x; i < 128; i += 32) {
      const unsigned row = i / 8, column = i % 8;
      uint16_t& to = by == By::rows ? of_right.rows[column][row] : of_right.rows[row][column];
      to = right[i];
    }
    __syncwarp();
    const unsigned lane = threadIdx.x;
    ambit::cuda::load_matrices<false>(a, &of_left.rows[lane % 16][lane / 16 * 8]);
    uint32_t words[4];  // the last two matrices repeat the first
    if (by == By::rows) {
      ambit::cuda::load_matrices<false>(words, &of_right.rows[lane % 8][lane / 8 % 2 * 8]);
    } else {
      ambit::cuda::load_matrices<true>(words, &of_right.rows[lane % 16][0]);
    }
    b[0] = words[0], b[1] = words[1];
  }
  const auto at = [&](unsigned i) {
    return (i < 2 ? group : group + 8) * 8 + in_group * 2 + (i & 1);
  };
  for (unsigned i = 0; i < 4; ++i) c[i] = sums[at(i)];
  ambit::cuda::multiply_add<T>(c, a, b);
  for (unsigned i = 0; i < 4; ++i) sums[at(i)] = c[i];
}

template <class T>
__global__ void split_kernel(uint32_t* words, const float* x) {
  const unsigned t = threadIdx.x;
  uint32_t high = 0, low = 0;
  ambit::cuda::split<T>(x[2 * t], x[2 * t + 1], high, low);
  words[t] = high, words[32 + t] = low;
}

}  // namespace

cudaError_t multiply(float* sums, const uint16_t* left, const uint16_t* right, bool is_bfloat16,
                     By by) {
  ambit::cuda::host::launch(is_bfloat16 ? multiply_kernel<BFloat16> : multiply_kernel<Half>, 1, 32,
                            nullptr, sums, left, right, by);
  return cudaGetLastError();
}

cudaError_t split_pairs(uint32_t* words, const float* x, bool is_bfloat16) {
  ambit::cuda::host::launch(is_bfloat16 ? split_kernel<BFloat16> : split_kernel<Half>, 1, 32,
                            nullptr, words, x);
  return cudaGetLastError();
}

}  // namespace mma_kernels
