// Compiles CUDA device code as C++ for the host; included before a .cu file. block.h runs a
// kernel's threads, and shadow.h checks each access: the file is compiled for ThreadSanitizer, and
// the runtime defines the functions that the compiler calls for accesses.
#pragma once

#include <ambit/api.h>
#include <cuda_runtime_api.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <tuple>
#include <type_traits>

#define AMBIT_CUDA_ON_HOST

#undef __global__
#undef __device__
#undef __host__
#undef __shared__
#undef __forceinline__
#undef __grid_constant__
#define __global__
#define __device__
#define __host__
#define __shared__ static
#define __forceinline__ inline
#define __grid_constant__

// Different symbol names, so that the sanitizers' libraries can be linked too.
#define AMBIT_CALLED_AS(name, ours) asm(".set " #name ", ambit_cuda_host_" #ours);
#define AMBIT_CALLED_FOR_SIZE(n)                                     \
  AMBIT_CALLED_AS(__tsan_read##n, read##n)                           \
  AMBIT_CALLED_AS(__tsan_write##n, write##n)                         \
  AMBIT_CALLED_AS(__tsan_unaligned_read##n, read##n)                 \
  AMBIT_CALLED_AS(__tsan_unaligned_write##n, write##n)               \
  AMBIT_CALLED_AS(__tsan_volatile_read##n, atomic_read##n)           \
  AMBIT_CALLED_AS(__tsan_volatile_write##n, atomic_write##n)         \
  AMBIT_CALLED_AS(__tsan_unaligned_volatile_read##n, atomic_read##n) \
  AMBIT_CALLED_AS(__tsan_unaligned_volatile_write##n, atomic_write##n)
AMBIT_CALLED_FOR_SIZE(1)
AMBIT_CALLED_FOR_SIZE(2)
AMBIT_CALLED_FOR_SIZE(4)
AMBIT_CALLED_FOR_SIZE(8)
AMBIT_CALLED_FOR_SIZE(16)
AMBIT_CALLED_AS(__tsan_init, begin)
AMBIT_CALLED_AS(__tsan_read_range, read_range)
AMBIT_CALLED_AS(__tsan_write_range, write_range)
AMBIT_CALLED_AS(__tsan_vptr_update, vptr)
AMBIT_CALLED_AS(__tsan_vptr_read, vptr)
AMBIT_CALLED_AS(__ubsan_handle_type_mismatch_v1, misaligned)
// Atomic operations of host code in the file; they are executed here and not checked.
#define AMBIT_ATOMICS(n)                                                           \
  AMBIT_CALLED_AS(__tsan_atomic##n##_load, load##n)                                \
  AMBIT_CALLED_AS(__tsan_atomic##n##_store, store##n)                              \
  AMBIT_CALLED_AS(__tsan_atomic##n##_exchange, exchange##n)                        \
  AMBIT_CALLED_AS(__tsan_atomic##n##_fetch_add, fetch_add##n)                      \
  AMBIT_CALLED_AS(__tsan_atomic##n##_fetch_sub, fetch_sub##n)                      \
  AMBIT_CALLED_AS(__tsan_atomic##n##_fetch_and, fetch_and##n)                      \
  AMBIT_CALLED_AS(__tsan_atomic##n##_fetch_or, fetch_or##n)                        \
  AMBIT_CALLED_AS(__tsan_atomic##n##_fetch_xor, fetch_xor##n)                      \
  AMBIT_CALLED_AS(__tsan_atomic##n##_compare_exchange_strong, compare_exchange##n) \
  AMBIT_CALLED_AS(__tsan_atomic##n##_compare_exchange_weak, compare_exchange##n)
AMBIT_ATOMICS(8)
AMBIT_ATOMICS(16)
AMBIT_ATOMICS(32)
AMBIT_ATOMICS(64)
#undef AMBIT_ATOMICS
#undef AMBIT_CALLED_FOR_SIZE
#undef AMBIT_CALLED_AS

namespace ambit::cuda::host {

// const: the position of a thread never changes, so the compiler may cache it.
AMBIT_API __attribute__((const)) unsigned thread_in_block();
AMBIT_API __attribute__((const)) unsigned block_in_grid();
AMBIT_API __attribute__((const)) unsigned threads_of_block();
AMBIT_API __attribute__((const)) unsigned blocks_of_grid();
AMBIT_API void wait_for_block();
AMBIT_API void wait_for_warp();
/// Return the value that `lane` of the warp passes.
AMBIT_API uint64_t exchange(uint64_t value, unsigned lane);
/// mma.m16n8k16 with bfloat16 or float16 fragments: see mma.cpp.
AMBIT_API void multiply_add(float (&sums)[4], const uint32_t (&left)[4], const uint32_t (&right)[2],
                            bool is_bfloat16);
/// An atomic operation on uninitialised memory is also an error.
AMBIT_API void expect_written(const volatile void* p, size_t bytes);

AMBIT_API cudaError_t queue_kernel(const void* kernel,
                                   void (*call)(const void* kernel, const void* arguments),
                                   const void* arguments, size_t argument_bytes, unsigned blocks,
                                   unsigned threads, cudaStream_t stream);

/// kernel<<<blocks, threads, 0, stream>>>(arguments...); errors are returned by cudaGetLastError().
template <class... Parameters>
void launch(void (*kernel)(Parameters...), unsigned blocks, unsigned threads, cudaStream_t stream,
            std::type_identity_t<Parameters>... arguments) {
  using Arguments = std::tuple<Parameters...>;
  static_assert((std::is_trivially_copyable_v<Parameters> && ...));
  static_assert(sizeof(Arguments) <= 4096, "more than the arguments of a kernel may have");
  const Arguments all(arguments...);
  const auto call = [](const void* function, const void* values) {
    std::apply(reinterpret_cast<void (*)(Parameters...)>(const_cast<void*>(function)),
               *static_cast<const Arguments*>(values));
  };
  static_cast<void>(queue_kernel(reinterpret_cast<const void*>(kernel), call, &all, sizeof all,
                                 blocks, threads, stream));
}

}  // namespace ambit::cuda::host

/// Only one dimension, as ambit's kernels use.
struct AmbitIndex {
  unsigned x, y, z;
};
#define threadIdx (AmbitIndex{::ambit::cuda::host::thread_in_block(), 0, 0})
#define blockIdx (AmbitIndex{::ambit::cuda::host::block_in_grid(), 0, 0})
#define blockDim (AmbitIndex{::ambit::cuda::host::threads_of_block(), 1, 1})
#define gridDim (AmbitIndex{::ambit::cuda::host::blocks_of_grid(), 1, 1})

inline void __syncthreads() { ::ambit::cuda::host::wait_for_block(); }
inline void __syncwarp(unsigned = ~0u) { ::ambit::cuda::host::wait_for_warp(); }

template <class T>
T ambit_exchange(T v, unsigned lane) {
  static_assert(sizeof(T) <= 8 && std::is_trivially_copyable_v<T>);
  uint64_t bits = 0;
  std::memcpy(&bits, &v, sizeof v);
  bits = ::ambit::cuda::host::exchange(bits, lane % 32);
  std::memcpy(&v, &bits, sizeof v);
  return v;
}
template <class T>
T __shfl_sync(unsigned, T v, int lane) {
  return ambit_exchange(v, static_cast<unsigned>(lane));
}
template <class T>
T __shfl_xor_sync(unsigned, T v, int lanes) {
  return ambit_exchange(v, threadIdx.x % 32 ^ static_cast<unsigned>(lanes));
}
template <class T>
T __shfl_down_sync(unsigned, T v, unsigned lanes) {
  const unsigned lane = threadIdx.x % 32;
  return ambit_exchange(v, lane + lanes < 32 ? lane + lanes : lane);
}
template <class T>
T __shfl_up_sync(unsigned, T v, unsigned lanes) {
  const unsigned lane = threadIdx.x % 32;
  return ambit_exchange(v, lane >= lanes ? lane - lanes : lane);
}

// A volatile access counts as atomic, without a thread switch. The value is read again instead of
// being known to the compiler.
template <class T, class F>
T ambit_atomic(T* p, const F& next) {
  ::ambit::cuda::host::expect_written(p, sizeof(T));
  volatile T* const place = p;
  const T before = *place;
  *place = next(before);
  asm volatile("" ::: "memory");
  return before;
}
template <class T>
T atomicAdd(T* p, std::type_identity_t<T> v) {
  return ambit_atomic(p, [&](T before) { return static_cast<T>(before + v); });
}
template <class T>
T atomicMax(T* p, std::type_identity_t<T> v) {
  return ambit_atomic(p, [&](T before) { return before < v ? v : before; });
}
template <class T>
T atomicMin(T* p, std::type_identity_t<T> v) {
  return ambit_atomic(p, [&](T before) { return v < before ? v : before; });
}
template <class T>
T atomicExch(T* p, std::type_identity_t<T> v) {
  return ambit_atomic(p, [&](T) { return v; });
}
// Atomic operations on words around a smaller element also use this; the other bytes may be
// uninitialised.
template <class T>
T atomicCAS(T* p, std::type_identity_t<T> expected, std::type_identity_t<T> v) {
  volatile T* const place = p;
  const T before = *place;
  *place = before == expected ? v : before;
  asm volatile("" ::: "memory");
  return before;
}

inline void __threadfence() {}
inline void __threadfence_block() {}
inline void __threadfence_system() {}

using std::fmax;
using std::fmin;
template <class A, class B>
std::common_type_t<A, B> min(A a, B b) {
  return b < a ? b : a;
}
template <class A, class B>
std::common_type_t<A, B> max(A a, B b) {
  return a < b ? b : a;
}
