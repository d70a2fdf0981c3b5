// How the headers of the devices `cuda` find functions of libambit_cuda.so: a program links ambit
// alone.
#pragma once

#include <ambit/error.h>
#include <ambit/plugins.h>
#include <dlfcn.h>

namespace ambit::cuda::detail {

/// Return the table that a function of the loaded plugin returns. Errors: BackendError where no
/// plugin has one.
template <class Table>
const Table* find_table(const char* function) {
  load_all_backends();
  for (const LoadAttempt& attempt : load_report()) {
    if (!attempt.loaded) continue;
    // RTLD_NOLOAD: a handle of what is loaded anyway; the loader keeps it so.
    void* library = dlopen(attempt.file.c_str(), RTLD_NOW | RTLD_NOLOAD);
    if (!library) continue;
    void* entry = dlsym(library, function);
    dlclose(library);
    if (entry) return reinterpret_cast<const Table* (*)()>(entry)();
  }
  throw BackendError("cuda: expected libambit_cuda.so to be loaded; load_report() says why not");
}

}  // namespace ambit::cuda::detail
