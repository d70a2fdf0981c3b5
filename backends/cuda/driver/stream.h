// A queue of work on one GPU, and the library handles that go with it. Every thread has one for
// each GPU; tensors pass between threads freely, since Call orders the streams that use them.
#pragma once

#include <cuda_runtime_api.h>

#include "stream_clock.h"

// cudnnHandle_t and cublasLtHandle_t point at these; their headers stay out of most files.
struct cudnnContext;
struct cublasLtContext;

namespace ambit::cuda {

class FaultRecord;
class Gpu;

/// Kept as long as the process, though the thread that uses it may change.
struct Stream {
  Stream(Gpu& owner, int of_device, int number) : gpu(owner), device(of_device), clock(number) {}

  Gpu& gpu;
  const int device;               ///< the index of the GPU
  StreamClock clock;              ///< its id: the place among the streams of the GPU
  FaultRecord* faults = nullptr;  ///< what the kernels of its thread report
  cudaStream_t handle = nullptr;
  cudaEvent_t reached = nullptr;  ///< recorded anew whenever another stream must wait for this one
  // Opened at their first use, by cudnn.cpp and cublaslt.cpp.
  cudnnContext* cudnn = nullptr;
  cublasLtContext* cublaslt = nullptr;
};

/// What the calling thread is queueing: Call says it, and who throws reads it.
struct Work {
  const char* op = "cuda";
  Stream* stream = nullptr;
};
inline Work& current_work() noexcept {
  thread_local Work work;
  return work;
}

}  // namespace ambit::cuda
