// A queue of work on one GPU. Every thread owns one for each GPU, with its library handles, and may
// temporarily use others from the pool. Tensors may be used on any stream, because Call orders the
// streams that use them.
#pragma once

#include <cuda_runtime_api.h>

#include <atomic>

#include "stream_clock.h"

// Pointees of library handles, forward-declared to avoid including the libraries' headers.
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

/// Lives until the process ends; may pass from an ended thread to another one.
struct GpuStream {
  GpuStream(Gpu& owner, int of_device, int number) : gpu(owner), device(of_device), clock(number) {}

  Gpu& gpu;
  const int device;   ///< index of the GPU
  StreamClock clock;  ///< its id is the index among the streams of the GPU
  cudaStream_t handle = nullptr;
  cudaEvent_t reached = nullptr;  ///< recorded again whenever another stream must wait for this one

  // Members of a thread's own stream:
  FaultRecord* faults = nullptr;  ///< reports of its thread's kernels
  // Created on first use, in libraries/.
  cudnnContext* cudnn = nullptr;
  cudaStream_t cudnn_works_on = nullptr;
  cublasLtContext* cublaslt = nullptr;
  cublasContext* cublas = nullptr;
  cusolverDnContext* cusolver = nullptr;
  cudaStream_t cusolver_works_on = nullptr;
  syevjInfo* syevj = nullptr;
  gesvdjInfo* gesvdj = nullptr;

  // Members of a stream of the pool:
  bool is_pooled = false;
  std::atomic<const void*> holder{nullptr};  ///< the thread that may queue work; null: none
  int holds = 0;                             ///< nesting depth of holds; accessed by the holder

  // Members of a stream that is being captured:
  Graph* capture = nullptr;
  GpuStream* below = nullptr;  ///< the thread's current stream before and after the capture
};

/// The op that the calling thread is queueing; set by Call, read for error messages.
struct Work {
  const char* op = "cuda";
  GpuStream* stream = nullptr;
};
inline Work& current_work() noexcept {
  thread_local Work work;
  return work;
}

}  // namespace ambit::cuda
