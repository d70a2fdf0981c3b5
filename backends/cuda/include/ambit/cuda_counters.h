// What a training step must not do after its first rounds, counted: for tests and benchmarks, which
// find the numbers in the loaded plugin without linking it.
#pragma once

#include <ambit/error.h>
#include <ambit/plugins.h>
#include <dlfcn.h>

#include <cstdint>

namespace ambit::cuda {

/// Since the process began, over all GPUs.
struct Counters {
  uint64_t system_allocations;  ///< of GPU or pinned memory, that reached the driver
  uint64_t host_waits;          ///< of the host for a stream or a GPU, blocking copies among them
  uint64_t launches;            ///< kernels and copies that were queued through ops
  uint64_t fault_records;       ///< pieces of pinned memory that kernels report bad data in
};

/// Return the numbers now. Errors: BackendError when libambit_cuda.so is not loaded.
inline Counters counters() {
  load_all_backends();
  for (const LoadAttempt& attempt : load_report()) {
    if (!attempt.loaded) continue;
    // RTLD_NOLOAD: a handle of what is loaded anyway; the loader keeps it so.
    void* library = dlopen(attempt.file.c_str(), RTLD_NOW | RTLD_NOLOAD);
    if (!library) continue;
    void* entry = dlsym(library, "ambit_cuda_counters");
    dlclose(library);
    if (!entry) continue;
    Counters now{};
    reinterpret_cast<void (*)(Counters*)>(entry)(&now);
    return now;
  }
  throw BackendError("cuda: expected libambit_cuda.so to be loaded; load_report() says why not");
}

}  // namespace ambit::cuda
