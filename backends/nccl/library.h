// NCCL and the CUDA runtime, opened late: a machine without GPUs has neither.
#pragma once

#include <cuda_runtime_api.h>
#include <nccl.h>

namespace ambit::distributed::nccl {

/// The functions used, under their names.
struct Library {
  decltype(&ncclGetVersion) GetVersion;
  decltype(&ncclGetErrorString) GetErrorString;
  decltype(&ncclGetUniqueId) GetUniqueId;
  decltype(&ncclCommInitRank) CommInitRank;
  decltype(&ncclCommDestroy) CommDestroy;
  decltype(&ncclCommAbort) CommAbort;
  decltype(&ncclCommGetAsyncError) CommGetAsyncError;
  decltype(&ncclAllReduce) AllReduce;
  decltype(&ncclBroadcast) Broadcast;
  decltype(&ncclReduce) Reduce;
  decltype(&ncclAllGather) AllGather;
  decltype(&ncclReduceScatter) ReduceScatter;
  // Of the CUDA runtime; in C++ its header overloads some with templates.
  decltype(&cudaGetDeviceCount) GetDeviceCount;
  decltype(&cudaGetErrorString) CudaErrorString;
  decltype(&cudaSetDevice) SetDevice;
  cudaError_t (*StreamCreateWithFlags)(cudaStream_t*, unsigned);
  decltype(&cudaStreamSynchronize) StreamSynchronize;
  decltype(&cudaStreamDestroy) StreamDestroy;
  cudaError_t (*EventCreateWithFlags)(cudaEvent_t*, unsigned);
  cudaError_t (*EventRecord)(cudaEvent_t, cudaStream_t);
  decltype(&cudaEventQuery) EventQuery;
  decltype(&cudaEventDestroy) EventDestroy;
  cudaError_t (*MemcpyAsync)(void*, const void*, size_t, cudaMemcpyKind, cudaStream_t);
};

/// Open both, once. Errors: DistributedError with the library and the system's reason.
const Library& library();

/// Errors: DistributedError with the library's text where the code is one of an error.
void check(ncclResult_t code, const char* call);
void check(cudaError_t code, const char* call);

}  // namespace ambit::distributed::nccl
