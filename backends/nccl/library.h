// NCCL and the CUDA runtime, opened late: a machine without GPUs has neither.
#pragma once

#include <cuda_runtime_api.h>
#include <nccl.h>

#include <string>

namespace ambit::distributed::nccl {

/// A function as the library exports it.
struct Symbol {
  void* address;
  template <class F>
  operator F*() const {
    return reinterpret_cast<F*>(address);
  }
};

/// The functions used, under their names. Errors: DistributedError with the library or the
/// function, and the system's reason.
class Library {
  static void* open(const std::string& file);
  static Symbol find(void* library, const char* name);
  void* const nccl_ = open("libnccl.so.2");
  // Where the CUDA backend is loaded this is the one that it has.
  void* const cuda_ = open("libcudart.so." + std::to_string(CUDART_VERSION / 1000));

 public:
  decltype(&ncclGetVersion) GetVersion = find(nccl_, "ncclGetVersion");
  decltype(&ncclGetErrorString) GetErrorString = find(nccl_, "ncclGetErrorString");
  decltype(&ncclGetUniqueId) GetUniqueId = find(nccl_, "ncclGetUniqueId");
  decltype(&ncclCommInitRank) CommInitRank = find(nccl_, "ncclCommInitRank");
  decltype(&ncclCommDestroy) CommDestroy = find(nccl_, "ncclCommDestroy");
  decltype(&ncclCommAbort) CommAbort = find(nccl_, "ncclCommAbort");
  decltype(&ncclCommGetAsyncError) CommGetAsyncError = find(nccl_, "ncclCommGetAsyncError");
  decltype(&ncclAllReduce) AllReduce = find(nccl_, "ncclAllReduce");
  decltype(&ncclBroadcast) Broadcast = find(nccl_, "ncclBroadcast");
  decltype(&ncclReduce) Reduce = find(nccl_, "ncclReduce");
  decltype(&ncclAllGather) AllGather = find(nccl_, "ncclAllGather");
  decltype(&ncclReduceScatter) ReduceScatter = find(nccl_, "ncclReduceScatter");
  // Of the CUDA runtime; in C++ its header overloads some with templates.
  decltype(&cudaGetDeviceCount) GetDeviceCount = find(cuda_, "cudaGetDeviceCount");
  decltype(&cudaGetErrorString) CudaErrorString = find(cuda_, "cudaGetErrorString");
  decltype(&cudaSetDevice) SetDevice = find(cuda_, "cudaSetDevice");
  decltype(&cudaStreamDestroy) StreamDestroy = find(cuda_, "cudaStreamDestroy");
  decltype(&cudaEventQuery) EventQuery = find(cuda_, "cudaEventQuery");
  decltype(&cudaEventDestroy) EventDestroy = find(cuda_, "cudaEventDestroy");
  cudaError_t (*StreamCreateWithFlags)(cudaStream_t*, unsigned) = find(cuda_,
                                                                       "cudaStreamCreateWithFlags");
  cudaError_t (*EventCreateWithFlags)(cudaEvent_t*, unsigned) = find(cuda_,
                                                                     "cudaEventCreateWithFlags");
  cudaError_t (*EventRecord)(cudaEvent_t, cudaStream_t) = find(cuda_, "cudaEventRecord");
};

/// Return the one of this process, opened once.
const Library& library();

/// Errors: DistributedError with the library's text where the code is one of an error.
void check(ncclResult_t code, const char* call);
void check(cudaError_t code, const char* call);

}  // namespace ambit::distributed::nccl
