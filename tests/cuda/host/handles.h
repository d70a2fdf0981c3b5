// RAII streams and events of the CUDA runtime for tests.
#pragma once

#include <cuda_runtime_api.h>
#include <doctest/doctest.h>

struct Stream {
  explicit Stream(unsigned flags = cudaStreamNonBlocking) {
    REQUIRE(cudaStreamCreateWithFlags(&handle, flags) == cudaSuccess);
  }
  ~Stream() { cudaStreamDestroy(handle); }
  operator cudaStream_t() const { return handle; }
  cudaStream_t handle = nullptr;
};

struct Event {
  Event() { REQUIRE(cudaEventCreateWithFlags(&handle, cudaEventDisableTiming) == cudaSuccess); }
  ~Event() { cudaEventDestroy(handle); }
  operator cudaEvent_t() const { return handle; }
  cudaEvent_t handle = nullptr;
};
