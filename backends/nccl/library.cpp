#include "library.h"

#include <ambit/backend/communicator.h>
#include <dlfcn.h>
#include <fmt/format.h>

#include <string>

namespace ambit::distributed::nccl {
namespace {

void* open(const std::string& file) {
  void* const handle = dlopen(file.c_str(), RTLD_LAZY | RTLD_LOCAL);  // for ever
  if (handle) return handle;
  throw DistributedError(fmt::format("nccl: expected {}, got: {}", file, dlerror()));
}

Library open_all() {
  void* const nccl = open("libnccl.so.2");
  // Where the CUDA backend is loaded this is the one that it has.
  void* const cuda = open(fmt::format("libcudart.so.{}", CUDART_VERSION / 1000));
  Library l{};
  const auto find = [](void* handle, const std::string& name, auto& function) {
    function =
        reinterpret_cast<std::remove_reference_t<decltype(function)>>(dlsym(handle, name.c_str()));
    if (!function) {
      throw DistributedError(fmt::format("nccl: expected the function {}, got none", name));
    }
  };
  find(nccl, "ncclGetVersion", l.GetVersion);
  find(nccl, "ncclGetErrorString", l.GetErrorString);
  find(nccl, "ncclGetUniqueId", l.GetUniqueId);
  find(nccl, "ncclCommInitRank", l.CommInitRank);
  find(nccl, "ncclCommDestroy", l.CommDestroy);
  find(nccl, "ncclCommAbort", l.CommAbort);
  find(nccl, "ncclCommGetAsyncError", l.CommGetAsyncError);
  find(nccl, "ncclAllReduce", l.AllReduce);
  find(nccl, "ncclBroadcast", l.Broadcast);
  find(nccl, "ncclReduce", l.Reduce);
  find(nccl, "ncclAllGather", l.AllGather);
  find(nccl, "ncclReduceScatter", l.ReduceScatter);
  find(cuda, "cudaGetDeviceCount", l.GetDeviceCount);
  find(cuda, "cudaGetErrorString", l.CudaErrorString);
  find(cuda, "cudaSetDevice", l.SetDevice);
  find(cuda, "cudaStreamCreateWithFlags", l.StreamCreateWithFlags);
  find(cuda, "cudaStreamSynchronize", l.StreamSynchronize);
  find(cuda, "cudaStreamDestroy", l.StreamDestroy);
  find(cuda, "cudaEventCreateWithFlags", l.EventCreateWithFlags);
  find(cuda, "cudaEventRecord", l.EventRecord);
  find(cuda, "cudaEventQuery", l.EventQuery);
  find(cuda, "cudaEventDestroy", l.EventDestroy);
  find(cuda, "cudaMemcpyAsync", l.MemcpyAsync);
  return l;
}

}  // namespace

const Library& library() {
  static const Library all = open_all();
  return all;
}

void check(ncclResult_t code, const char* call) {
  if (code == ncclSuccess) return;
  throw DistributedError(
      fmt::format("{}: expected it to succeed, got: {}", call, library().GetErrorString(code)));
}

void check(cudaError_t code, const char* call) {
  if (code == cudaSuccess) return;
  throw DistributedError(
      fmt::format("{}: expected it to succeed, got: {}", call, library().CudaErrorString(code)));
}

}  // namespace ambit::distributed::nccl
