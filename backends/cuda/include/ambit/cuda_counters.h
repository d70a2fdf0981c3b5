// Counters of operations that a training step must not perform after its first iterations, for
// tests and benchmarks, which find them in the loaded plugin without linking it.
#pragma once

#include <ambit/error.h>
#include <ambit/plugins.h>
#include <dlfcn.h>

#include <cstdint>

namespace ambit::cuda {

/// Totals since the process began, over all GPUs.
struct Counters {
  uint64_t system_allocations;  ///< of GPU or pinned memory, from the driver
  uint64_t host_waits;          ///< for a stream or a GPU, including blocking copies
  uint64_t launches;            ///< kernels and copies queued through ops
  uint64_t fault_records;       ///< records in pinned memory for faults reported by kernels
};

/// Return the current counters. Errors: BackendError if libambit_cuda.so is not loaded.
inline Counters counters() {
  load_all_backends();
  for (const LoadAttempt& attempt : load_report()) {
    if (!attempt.loaded) continue;
    // RTLD_NOLOAD: only get a handle of a library that is already loaded; the loader keeps it.
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
