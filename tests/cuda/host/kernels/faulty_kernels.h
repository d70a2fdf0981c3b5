// Kernels that do one thing wrong, or right where it could be taken for wrong; each is launched on
// a stream as its comment says, and returns what the launch did.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

namespace faulty {

struct Place {
  unsigned blocks, threads;
  cudaStream_t stream;
};

/// y[i] = value for i of all threads.
cudaError_t fill(Place at, int* y, int value);
/// y[i] = x[i] + 1.
cudaError_t add_one(Place at, int* y, const int* x);
/// y[i] = x[i] + 1 of bytes, each of a thread.
cudaError_t add_one_to_bytes(Place at, int8_t* y, const int8_t* x);
/// y[0..4) = x[0..4) as one vector, by every block.
cudaError_t copy_vector(Place at, float* y, const float* x);
/// y[i] = the sum of all threads' i of the block, by shared memory in steps; `barrier`: as it must.
cudaError_t sum_block(Place at, int* y, bool barrier);
/// y[i] = the sum of i over the thread's warp, by exchange.
cudaError_t sum_warp(Place at, int* y);
/// y[0] += 1 by all threads; atomically, or as they please.
cudaError_t count(Place at, int* y, bool atomically);
/// Every thread adds atomically to y[0]; thread 0 then reads it with nothing between.
cudaError_t count_and_read(Place at, int* y, int* seen);
/// Thread i writes y[i] and reads what thread i ^ 1 wrote, after an exchange of the warp or not.
cudaError_t swap_in_warp(Place at, int* y, int* other, bool synchronized);
/// y[0] = shared memory that nobody wrote.
cudaError_t read_unwritten_shared(Place at, int* y);
/// Thread 0 leaves before the barrier of the others.
cudaError_t leave_before_barrier(Place at, int* y);
/// Half of the threads wait at a barrier, half at an exchange of their warp.
cudaError_t part_ways(Place at, int* y);
/// Thread 0 hands the address of a local variable to the others.
cudaError_t share_local(Place at, int* y);
/// y[i] = a constant of a table.
cudaError_t look_up(Place at, int* y);
/// All threads write the same to y[0], as a volatile or not.
cudaError_t write_alike(Place at, int* y, bool is_volatile);

}  // namespace faulty
