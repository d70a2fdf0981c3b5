#include "faulty_kernels.h"

namespace faulty {
namespace {

struct alignas(16) Four {
  float lane[4];
};

constexpr int kTable[] = {3, 1, 4, 1, 5, 9, 2, 6};

__device__ unsigned index() { return blockIdx.x * blockDim.x + threadIdx.x; }

__global__ void fill_kernel(int* y, int value) { y[index()] = value; }
__global__ void add_one_kernel(int* y, const int* x) { y[index()] = x[index()] + 1; }
__global__ void add_one_to_bytes_kernel(int8_t* y, const int8_t* x) {
  y[index()] = static_cast<int8_t>(x[index()] + 1);
}
__global__ void copy_vector_kernel(float* y, const float* x) {
  if (threadIdx.x == 0) *reinterpret_cast<Four*>(y) = *reinterpret_cast<const Four*>(x);
}

__global__ void sum_block_kernel(int* y, bool barrier) {
  __shared__ int values[1024];
  const unsigned t = threadIdx.x;
  values[t] = static_cast<int>(t);
  __syncthreads();
  for (unsigned half = blockDim.x / 2; half > 0; half /= 2) {
    if (t < half) values[t] += values[t + half];
    if (barrier) __syncthreads();
  }
  __syncthreads();
  y[index()] = values[0];
}

__global__ void sum_warp_kernel(int* y) {
  int v = static_cast<int>(index());
  for (int step = 16; step > 0; step /= 2) v += __shfl_xor_sync(~0u, v, step);
  y[index()] = v;
}

__global__ void count_kernel(int* y, bool atomically) {
  if (atomically) {
    atomicAdd(y, 1);
  } else {
    *y += 1;
  }
}

__global__ void count_and_read_kernel(int* y, int* seen) {
  atomicAdd(y, 1);
  if (threadIdx.x == 0) *seen = *y;
}

__global__ void swap_in_warp_kernel(int* y, int* other, bool synchronized) {
  const unsigned i = index();
  y[i] = static_cast<int>(i);
  if (synchronized) __syncwarp();
  other[i] = y[i ^ 1];
}

__global__ void read_unwritten_shared_kernel(int* y) {
  __shared__ int values[1024];
  if (threadIdx.x > 0) values[threadIdx.x] = 1;
  __syncthreads();
  y[index()] = values[blockDim.x - 1 - threadIdx.x];
}

__global__ void leave_before_barrier_kernel(int* y) {
  if (threadIdx.x == 0) return;
  __syncthreads();
  y[index()] = 1;
}

__global__ void part_ways_kernel(int* y) {
  if (threadIdx.x % 32 < 16) {
    __syncthreads();
  } else {
    y[index()] = __shfl_xor_sync(~0u, 1, 1);
  }
}

__global__ void share_local_kernel(int* y) {
  __shared__ int* address;
  int mine[4] = {1, 2, 3, 4};
  if (threadIdx.x == 0) address = mine;
  __syncthreads();
  y[index()] = address[threadIdx.x % 4];
  __syncthreads();
}

__global__ void look_up_kernel(int* y) { y[index()] = kTable[index() % 8]; }

__global__ void write_alike_kernel(int* y, bool is_volatile) {
  if (is_volatile) {
    *const_cast<volatile int*>(y) = 1;
  } else {
    *y = 1;
  }
}

template <class... P>
cudaError_t run(void (*kernel)(P...), Place at, std::type_identity_t<P>... arguments) {
  ambit::cuda::host::launch(kernel, at.blocks, at.threads, at.stream, arguments...);
  return cudaGetLastError();
}

}  // namespace

cudaError_t fill(Place at, int* y, int value) { return run(fill_kernel, at, y, value); }
cudaError_t add_one(Place at, int* y, const int* x) { return run(add_one_kernel, at, y, x); }
cudaError_t add_one_to_bytes(Place at, int8_t* y, const int8_t* x) {
  return run(add_one_to_bytes_kernel, at, y, x);
}
cudaError_t copy_vector(Place at, float* y, const float* x) {
  return run(copy_vector_kernel, at, y, x);
}
cudaError_t sum_block(Place at, int* y, bool barrier) {
  return run(sum_block_kernel, at, y, barrier);
}
cudaError_t sum_warp(Place at, int* y) { return run(sum_warp_kernel, at, y); }
cudaError_t count(Place at, int* y, bool atomically) {
  return run(count_kernel, at, y, atomically);
}
cudaError_t count_and_read(Place at, int* y, int* seen) {
  return run(count_and_read_kernel, at, y, seen);
}
cudaError_t swap_in_warp(Place at, int* y, int* other, bool synchronized) {
  return run(swap_in_warp_kernel, at, y, other, synchronized);
}
cudaError_t read_unwritten_shared(Place at, int* y) {
  return run(read_unwritten_shared_kernel, at, y);
}
cudaError_t leave_before_barrier(Place at, int* y) {
  return run(leave_before_barrier_kernel, at, y);
}
cudaError_t part_ways(Place at, int* y) { return run(part_ways_kernel, at, y); }
cudaError_t share_local(Place at, int* y) { return run(share_local_kernel, at, y); }
cudaError_t look_up(Place at, int* y) { return run(look_up_kernel, at, y); }
cudaError_t write_alike(Place at, int* y, bool is_volatile) {
  return run(write_alike_kernel, at, y, is_volatile);
}

}  // namespace faulty
