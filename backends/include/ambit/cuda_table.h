// Finds functions of libambit_cuda.so for the headers of the devices `cuda`, so that a program
// links only ambit.
#pragma once

#include <ambit/error.h>
#include <ambit/plugins.h>
#include <dlfcn.h>

namespace ambit::cuda::detail {

/// Return the table that the named function of a loaded plugin returns. Errors: BackendError if no
/// plugin exports it.
template <class Table>
const Table* find_table(const char* function) {
  load_all_backends();
  for (const LoadAttempt& attempt : load_report()) {
    if (!attempt.loaded) continue;
    // RTLD_NOLOAD: only get a handle of a library that is already loaded; the loader keeps it.
    void* library = dlopen(attempt.file.c_str(), RTLD_NOW | RTLD_NOLOAD);
    if (!library) continue;
    void* entry = dlsym(library, function);
    dlclose(library);
    if (entry) return reinterpret_cast<const Table* (*)()>(entry)();
  }
  throw BackendError("cuda: expected libambit_cuda.so to be loaded; load_report() says why not");
}

}  // namespace ambit::cuda::detail
