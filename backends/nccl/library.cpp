#include "library.h"

#include <ambit/backend/communicator.h>
#include <dlfcn.h>
#include <fmt/format.h>

namespace ambit::distributed::nccl {

void* Library::open(const std::string& file) {
  void* const handle = dlopen(file.c_str(), RTLD_LAZY | RTLD_LOCAL);  // for ever
  if (handle) return handle;
  throw DistributedError(fmt::format("nccl: expected {}, got: {}", file, dlerror()));
}

Symbol Library::find(void* library, const char* name) {
  if (void* const address = dlsym(library, name)) return {address};
  throw DistributedError(fmt::format("nccl: expected the function {}, got none", name));
}

const Library& library() {
  static const Library all;
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
