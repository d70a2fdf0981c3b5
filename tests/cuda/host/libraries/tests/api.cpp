#include "api.h"

#include <dlfcn.h>

#include <filesystem>
#include <stdexcept>

#include "tests/cuda/host/queue.h"

namespace host_libraries {
namespace {

template <class Api>
const Api& emulation(const char* file) {
  static const auto* api = new Api{Opened(folder_of_emulations() + "/" + file)};
  if (!api->library.is_there()) throw std::runtime_error(dlerror());
  return *api;
}

}  // namespace

std::string folder_of_emulations() {
  Dl_info runtime{};
  dladdr(reinterpret_cast<void*>(&ambit::cuda::host::check_read), &runtime);
  return std::filesystem::canonical(runtime.dli_fname).parent_path();
}

Opened::Opened(const std::string& path) : handle_(dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL)) {}

void* Opened::find_symbol(const char* name) const {
  if (!handle_) return nullptr;
  void* symbol = dlsym(handle_, name);
  if (!symbol) throw std::runtime_error(dlerror());
  return symbol;
}

const CudnnApi& emulated_cudnn() { return emulation<CudnnApi>("libcudnn.so.9"); }
const CublasLtApi& emulated_cublaslt() { return emulation<CublasLtApi>("libcublasLt.so.13"); }

const CudnnApi& real_cudnn() {
  static const auto* api = new CudnnApi{Opened("libcudnn.so.9")};
  return *api;
}
const CublasLtApi& real_cublaslt() {
  static const auto* api = new CublasLtApi{Opened("libcublasLt.so.13")};
  return *api;
}

}  // namespace host_libraries
