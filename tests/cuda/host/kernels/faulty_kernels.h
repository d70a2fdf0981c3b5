// Kernels with one error each, or correct ones that resemble an error. Each is launched on a
// stream, and returns the launch's status.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

namespace faulty {

struct Place {
  unsigned blocks, threads;
  cudaStream_t stream;
};

/// y[i] = value for each thread i.
cudaError_t fill(Place at, int* y, int value);
/// y[i] = x[i] + 1.
cudaError_t add_one(Place at, int* y, const int* x);
/// y[i] = x[i] + 1 for bytes, one per thread.
cudaError_t add_one_to_bytes(Place at, int8_t* y, const int8_t* x);
/// y[0..4) = x[0..4) as one vector access, by every block.
cudaError_t copy_vector(Place at, float* y, const float* x);
/// y[i] = the sum of all i of the block, by shared memory in steps; without `barrier` it has races.
cudaError_t sum_block(Place at, int* y, bool barrier);
/// y[i] = the sum of i over the thread's warp, by shuffles.
cudaError_t sum_warp(Place at, int* y);
/// All threads run y[0] += 1, atomically or not.
cudaError_t count(Place at, int* y, bool atomically);
/// All threads add to y[0] atomically; thread 0 then reads it without synchronisation.
cudaError_t count_and_read(Place at, int* y, int* seen);
/// Thread i writes y[i] and reads y[i ^ 1], with or without __syncwarp() in between.
cudaError_t swap_in_warp(Place at, int* y, int* other, bool synchronized);
/// y[0] = uninitialised shared memory.
cudaError_t read_unwritten_shared(Place at, int* y);
/// Thread 0 exits before the barrier of the others.
cudaError_t leave_before_barrier(Place at, int* y);
/// Half of the threads wait at a barrier, the others at a shuffle of their warp.
cudaError_t part_ways(Place at, int* y);
/// Thread 0 passes the address of a local variable to the other threads.
cudaError_t share_local(Place at, int* y);
/// y[i] = an element of a constant table.
cudaError_t look_up(Place at, int* y);
/// All threads write the same value to y[0], volatile or not.
cudaError_t write_alike(Place at, int* y, bool is_volatile);

}  // namespace faulty
