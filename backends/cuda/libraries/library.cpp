#include "library.h"

#include <ambit/detail/late_library.h>
#include <ambit/error.h>
#include <dlfcn.h>
#include <fmt/format.h>

#include "backends/cuda/runtime/call.h"

namespace ambit::cuda {

Library::Library(std::initializer_list<const char*> files) {
  std::string reasons;
  bool no_memory = false;
  for (const char* file : files) {
    // Call dlopen here, not in libambit, so that this plugin's RUNPATH is searched.
    const OpenedLibrary library =
        opened_library(dlopen(file, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE));
    if (library.handle) {
      handle_ = library.handle;
      file_ = file;
      return;
    }
    no_memory = no_memory || library.no_memory;
    reasons += (reasons.empty() ? "" : "; ") + library.reason;
  }
  const std::string text =
      fmt::format("{}: expected to open {}, got: {}", Call::op(), *files.begin(), reasons);
  if (no_memory) throw OutOfMemoryError(text);
  throw BackendError(text);
}

void* Library::find_symbol(const char* name) const {
  void* symbol = dlsym(handle_, name);
  if (symbol) return symbol;
  throw BackendError(fmt::format("{}: expected the function {} in {}, got: {}", Call::op(), name,
                                 file_, dlerror()));
}

}  // namespace ambit::cuda
