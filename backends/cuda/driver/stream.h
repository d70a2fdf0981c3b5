// A queue of work on one GPU. Every thread has one of its own for each GPU, with the handles of
// libraries, and may take others from the pool for a while; tensors pass between streams freely,
// since Call orders those that use them.
#pragma once

#include <cuda_runtime_api.h>

#include <atomic>

#include "stream_clock.h"

// What the handles of libraries point at; their headers stay out of most files.
struct cudnnContext;
struct cublasLtContext;
struct cublasContext;
struct cusolverDnContext;
struct syevjInfo;
struct gesvdjInfo;

namespace ambit::cuda {

class FaultRecord;
class Gpu;
class Graph;

/// Kept as long as the process, though the thread that uses it may change.
struct GpuStream {
  GpuStream(Gpu& owner, int of_device, int number) : gpu(owner), device(of_device), clock(number) {}

  Gpu& gpu;
  const int device;   ///< the index of the GPU
  StreamClock clock;  ///< its id: the place among the streams of the GPU
  cudaStream_t handle = nullptr;
  cudaEvent_t reached = nullptr;  ///< recorded anew whenever another stream must wait for this one

  // Of a thread's own stream.
  FaultRecord* faults = nullptr;  ///< what the kernels of its thread report
  // Opened at their first use, by libraries/.
  cudnnContext* cudnn = nullptr;
  cudaStream_t cudnn_works_on = nullptr;
  cublasLtContext* cublaslt = nullptr;
  cublasContext* cublas = nullptr;
  cusolverDnContext* cusolver = nullptr;
  cudaStream_t cusolver_works_on = nullptr;
  syevjInfo* syevj = nullptr;
  gesvdjInfo* gesvdj = nullptr;

  // Of a stream of the pool.
  bool is_pooled = false;
  std::atomic<const void*> holder{nullptr};  ///< the one thread that may queue work, null: none
  int holds = 0;                             ///< how often it holds the stream; the holder's

  // Of a stream that a graph is captured from.
  Graph* capture = nullptr;
  GpuStream* below = nullptr;  ///< the thread's current stream before and after
};

/// What the calling thread is queueing: Call says it, and who throws reads it.
struct Work {
  const char* op = "cuda";
  GpuStream* stream = nullptr;
};
inline Work& current_work() noexcept {
  thread_local Work work;
  return work;
}

}  // namespace ambit::cuda
