#include "library.h"

#include <ambit/error.h>
#include <dlfcn.h>
#include <fmt/format.h>

#include "backends/cuda/runtime/call.h"

namespace ambit::cuda {

Library::Library(std::initializer_list<const char*> files) {
  std::string reasons;
  for (const char* file : files) {
    handle_ = dlopen(file, RTLD_NOW | RTLD_LOCAL);
    if (handle_) {
      file_ = file;
      return;
    }
    reasons += fmt::format("{}{}", reasons.empty() ? "" : "; ", dlerror());
  }
  throw BackendError(
      fmt::format("{}: expected to open {}, got: {}", Call::op(), *files.begin(), reasons));
}

void* Library::find_symbol(const char* name) const {
  void* symbol = dlsym(handle_, name);
  if (symbol) return symbol;
  throw BackendError(fmt::format("{}: expected the function {} in {}, got: {}", Call::op(), name,
                                 file_, dlerror()));
}

}  // namespace ambit::cuda
