#include "library.h"

#include <ambit/backend/communicator.h>
#include <dlfcn.h>
#include <fmt/format.h>

namespace ambit::distributed::nccl {
namespace {

void* open(const std::string& file) {
  void* const handle = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);  // for ever
  if (handle) return handle;
  throw DistributedError(fmt::format("nccl: expected {}, got: {}", file, dlerror()));
}

template <class F>
void find(void* handle, const char* name, F& function) {
  function = reinterpret_cast<F>(dlsym(handle, name));
  if (!function)
    throw DistributedError(fmt::format("nccl: expected the function {}, got none", name));
}

Library open_all() {
  void* const nccl = open("libnccl.so.2");
  void* const cuda = open(fmt::format("libcudart.so.{}", CUDART_VERSION / 1000));
  Library l{};
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
  find(nccl, "ncclSend", l.Send);
  find(nccl, "ncclRecv", l.Recv);
  find(nccl, "ncclGroupStart", l.GroupStart);
  find(nccl, "ncclGroupEnd", l.GroupEnd);
  find(cuda, "cudaSetDevice", l.SetDevice);
  find(cuda, "cudaGetErrorString", l.CudaErrorString);
  find(cuda, "cudaStreamCreateWithFlags", l.StreamCreateWithFlags);
  find(cuda, "cudaStreamDestroy", l.StreamDestroy);
  find(cuda, "cudaEventCreateWithFlags", l.EventCreateWithFlags);
  find(cuda, "cudaEventRecord", l.EventRecord);
  find(cuda, "cudaEventQuery", l.EventQuery);
  find(cuda, "cudaEventDestroy", l.EventDestroy);
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
