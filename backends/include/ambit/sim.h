// Controls of simulated devices for tests: faults, delays, and access to their memory. Functions
// are called through a table that the plugin exports, so that a test links only ambit:
//   sim::controls().fail_kernel(Device("sim:0"), "convolution", 1);
#pragma once

#include <ambit/error.h>
#include <ambit/plugins.h>
#include <dlfcn.h>

#include <cstddef>
#include <string_view>

namespace ambit::sim {

/// Every function throws BackendError for a device that is not simulated. `nth` counts the
/// operations after the call (1: the next one). A fault occurs once, and replaces an earlier fault
/// of its kind.
struct Controls {
  /// Return true for a device of the simulator, false for another one that exists.
  bool (*is_simulated)(Device device);

  /// Make the nth allocation on the device throw OutOfMemoryError.
  void (*fail_allocation)(Device device, int nth);
  /// Limit the device's memory to `bytes`; existing allocations remain.
  void (*limit_memory)(Device device, size_t bytes);
  /// Make the nth copy to the device (from anywhere) or from it to the host fail; as with kernels,
  /// BackendError is thrown when the host next waits.
  void (*fail_copy)(Device device, int nth);
  /// Make the nth kernel named `op` ("convolution"; "": any) fail. The call itself succeeds;
  /// BackendError with the op's name is thrown when the host next waits. Other work runs normally.
  void (*fail_kernel)(Device device, std::string_view op, int nth);

  /// Set how many kernels and copies may wait in the device's queue (default 64): the device works
  /// only when more wait, or when a thread waits for it. 0: immediately.
  void (*set_queue_limit)(Device device, size_t entries);
  /// Return how many kernels and copies are not done yet.
  size_t (*queued)(Device device);
  /// Return the host address of the device memory that the program addresses as `address`, to
  /// inspect it without waiting; only for tests.
  const void* (*device_view)(Device device, const void* address);
  /// Remove all faults, and the limits set by limit_memory and set_queue_limit.
  void (*reset)(Device device);
};

/// Return the controls of the simulator. Errors: BackendError if it is not loaded.
inline const Controls& controls() {
  load_all_backends();
  for (const LoadAttempt& attempt : load_report()) {
    if (!attempt.loaded) continue;
    // RTLD_NOLOAD: only get a handle of a library that is already loaded; the loader keeps it.
    void* library = dlopen(attempt.file.c_str(), RTLD_NOW | RTLD_NOLOAD);
    if (!library) continue;
    void* entry = dlsym(library, "ambit_sim_controls");
    dlclose(library);
    if (entry) return *reinterpret_cast<const Controls* (*)()>(entry)();
  }
  throw BackendError(
      "sim: expected libambit_sim.so to be loaded; load_report() says why it is not");
}

}  // namespace ambit::sim
