// Warp-level products on tensor cores: float16 or bfloat16 matrices, float32 sums, distributed over
// the registers of 32 threads. On the GPU three PTX instructions, for compute capability 8.0 and
// up; in host builds of the tests their semantics, emulated between host threads. Thread 4 g + t
// holds of
// - a left factor [16,16] rows g (words 0, 2) and g + 8 (1, 3), columns 2 t and 2 t + 1 (0, 1) and
//   8 more (2, 3);
// - a right factor [16,8] column g, rows 2 t and 2 t + 1 (word 0) and 8 more (1);
// - sums [16,8] rows g (elements 0, 1) and g + 8 (2, 3), columns 2 t and 2 t + 1.
// Source: PTX ISA, "Matrix Fragments for mma.m16n8k16 with floating point type", "ldmatrix".
#pragma once

#include <ambit/dtype.h>

#include <cmath>
#include <limits>

#include "backends/cuda/runtime/launch.h"
#include "element16.cuh"

namespace ambit::cuda {

/// sums += left * right. Must be called by all threads of the warp.
template <ReducedFloat T>
__device__ inline void multiply_add(float (&sums)[4], const uint32_t (&left)[4],
                                    const uint32_t (&right)[2]) {
#ifdef AMBIT_CUDA_ON_HOST
  host::multiply_add(sums, left, right, std::same_as<T, BFloat16>);
#elif defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
#define AMBIT_MMA(type)                                                                 \
  asm volatile("mma.sync.aligned.m16n8k16.row.col.f32." type "." type                   \
               ".f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"   \
               : "+f"(sums[0]), "+f"(sums[1]), "+f"(sums[2]), "+f"(sums[3])             \
               : "r"(left[0]), "r"(left[1]), "r"(left[2]), "r"(left[3]), "r"(right[0]), \
                 "r"(right[1]))
  if constexpr (std::same_as<T, Half>) {
    AMBIT_MMA("f16");
  } else {
    AMBIT_MMA("bf16");
  }
#undef AMBIT_MMA
#elif defined(__CUDA_ARCH__)
  __trap();  // code for older GPUs, where it is never called
#endif
}

/// Read four matrices [8,8] from shared memory. Threads 0 to 7 pass the rows of the first, 8 to 15
/// of the second, ...: 8 elements each, aligned to 16 bytes. Word i of thread 4 g + t is from
/// matrix i row g, columns 2 t and 2 t + 1; transposed: column g, rows 2 t and 2 t + 1.
template <bool kTransposed>
__device__ inline void load_matrices(uint32_t (&words)[4], const uint16_t* row) {
#ifdef AMBIT_CUDA_ON_HOST
  struct alignas(16) Row {
    uint16_t elements[8];
  };
  const int lane = static_cast<int>(threadIdx.x) % 32;
  for (int i = 0; i < 4; ++i) {
    uint16_t pair[2];
    for (int j = 0; j < 2; ++j) {
      const int at = kTransposed ? lane % 4 * 2 + j : lane / 4;
      const auto* from = reinterpret_cast<const Row*>(
          __shfl_sync(~0u, reinterpret_cast<uintptr_t>(row), 8 * i + at));
      pair[j] = from->elements[kTransposed ? lane / 4 : lane % 4 * 2 + j];
    }
    words[i] = pair[0] | static_cast<uint32_t>(pair[1]) << 16;
  }
#elif defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  const auto address = static_cast<uint32_t>(__cvta_generic_to_shared(row));
#define AMBIT_LDMATRIX(transposed)                                                              \
  asm volatile("ldmatrix.sync.aligned.m8n8.x4" transposed ".shared.b16 {%0, %1, %2, %3}, [%4];" \
               : "=r"(words[0]), "=r"(words[1]), "=r"(words[2]), "=r"(words[3])                 \
               : "r"(address)                                                                   \
               : "memory")
  if constexpr (kTransposed) {
    AMBIT_LDMATRIX(".trans");
  } else {
    AMBIT_LDMATRIX("");
  }
#undef AMBIT_LDMATRIX
#elif defined(__CUDA_ARCH__)
  __trap();
#endif
}

/// Return two elements as a word, the first in its lower half.
template <ReducedFloat T>
__device__ uint32_t packed(float first, float second) {
#ifdef __CUDA_ARCH__
  if constexpr (std::same_as<T, Half>) {
    const __half2 pair = __floats2half2_rn(first, second);
    return reinterpret_cast<const uint32_t&>(pair);
  } else {
    const __nv_bfloat162 pair = __floats2bfloat162_rn(first, second);
    return reinterpret_cast<const uint32_t&>(pair);
  }
#else
  return uint32_t{downcast<T>(first).x} | uint32_t{downcast<T>(second).x} << 16;
#endif
}

/// Bits of both elements of a word that are all set in infinity and NaN.
template <ReducedFloat T>
inline constexpr uint32_t kExponents = std::same_as<T, Half> ? 0x7c007c00 : 0x7f807f80;

/// Return true if an element of a word is infinite or NaN.
template <ReducedFloat T>
__device__ bool has_infinite(uint32_t word) {
  constexpr uint32_t kLowest = kExponents<T> & -kExponents<T> & 0xffff;
  return (((word & kExponents<T>)+kLowest * 0x10001) & 0x80008000) != 0;
}
/// Return the word with such elements set to 0.
template <ReducedFloat T>
__device__ uint32_t finite_only(uint32_t word) {
  constexpr uint32_t kLow = kExponents<T> & 0xffff, kHigh = kExponents<T> ^ kLow;
  return ((word & kLow) == kLow ? 0 : word & 0xffff) |
         ((word & kHigh) == kHigh ? 0 : word & ~0xffffu);
}

/// Split two numbers into elements and the elements of the remainders: together twice the bits.
template <ReducedFloat T>
__device__ void split(float first, float second, uint32_t& high, uint32_t& low) {
  const auto rest = [](float x, uint32_t bits) {
    const float element = upcast(T(static_cast<uint16_t>(bits), T::from_bits()));
    return std::fabs(element) < std::numeric_limits<float>::infinity() ? x - element : 0.f;
  };
  high = packed<T>(first, second);
  low = packed<T>(rest(first, high & 0xffff), rest(second, high >> 16));
}

}  // namespace ambit::cuda
